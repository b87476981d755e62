package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/internal/serve"
)

func newServe(s command.Streams) *cobra.Command {
	var addr string
	c := described("serve")
	c.RunE = func(c *cobra.Command, _ []string) error { return serveOn(c.Context(), s, addr) }
	c.Flags().StringVar(&addr, "addr", "localhost:0", "host:port to listen on; with port 0 a free one is taken")
	return c
}

// serveOn serves until the context ends.
func serveOn(ctx context.Context, s command.Streams, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return command.Usagef("--addr %s: %w; give host:port such as localhost:8080, or localhost:0 for a free port", escape.Quoted(addr), err)
	}
	server := serve.New(serve.Config{Addr: listener.Addr().String(), Version: Version, Parallel: runtime.NumCPU(), Run: runJob}).HTTP()
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(s.Out, "http://%s\n", listener.Addr())
	if everywhere(listener.Addr()) {
		fmt.Fprintln(s.Err, "optratio: warning: every machine that reaches this one can use the server; --addr localhost:0 is for this machine alone")
	}
	select {
	case err := <-ended:
		if !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("%w: %w", job.ErrInternal, err)
		}
	case <-ctx.Done():
	}
	soon, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	if server.Shutdown(soon) != nil {
		server.Close()
	}
	return context.Cause(ctx)
}

// everywhere reports whether an address is that of all interfaces.
func everywhere(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsUnspecified()
}

// runJob answers a question under the limits that commands have.
func runJob(ctx context.Context, j front.Job) (*job.Answer, error) {
	ctx, stop := command.Within(ctx, j.Limit)
	defer stop()
	return j.Do(ctx, command.StandardMemory, func(string, ...any) {})
}
