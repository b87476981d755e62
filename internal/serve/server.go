package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
)

// Config is what a server needs.
type Config struct {
	Addr     string // host:port that it listens on; requests must name this host
	Version  string // of the program
	Parallel int    // jobs at a time, at least 1
	Run      func(context.Context, front.Job) (*job.Answer, error)
}

// Limits of what a client may ask for.
const (
	maxBody     = 1 << 20          // bytes of a request's body
	maxHeader   = 16 << 10         // bytes of its header
	answerLimit = 28 * time.Second // for all jobs of a request, waiting for their turns included
	readLimit   = 15 * time.Second // for a request to arrive
	writeLimit  = 90 * time.Second // for an answer to be computed and read
)

// Server answers requests; it is an http.Handler.
type Server struct {
	Config
	mux     *http.ServeMux
	turns   chan struct{}
	patient time.Duration // answerLimit; tests have shorter ones
	site    *front.Site
}

// New returns a server.
func New(c Config) *Server {
	s := &Server{Config: c, mux: http.NewServeMux(), turns: make(chan struct{}, max(1, c.Parallel)), patient: answerLimit}
	s.site = &front.Site{Run: s.do, Version: c.Version}
	s.routes()
	return s
}

// HTTP returns the server as one of package net/http, with limits on slow and large requests.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: readLimit / 3, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: 60 * time.Second, MaxHeaderBytes: maxHeader,
	}
}

// ServeHTTP refuses requests from other sites' pages, and passes on the others.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // without a referrer the browser would call the origin of a form null
	h.Set("Cache-Control", "no-store")
	if !s.local(r.Host) {
		http.Error(w, "this server answers only to the address that it printed when it started", http.StatusForbidden)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && !s.local(strings.TrimPrefix(origin, "http://")) || !slices.Contains([]string{"", "same-origin", "none"}, r.Header.Get("Sec-Fetch-Site")) {
		http.Error(w, "this server takes no requests from the pages of other sites", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	ctx, cancel := context.WithTimeoutCause(r.Context(), s.patient, errLate)
	defer cancel()
	s.mux.ServeHTTP(w, r.WithContext(ctx))
}

// local reports whether a host is the one that this server listens on. A page of another site that a name server maps to
// this machine has that site's name.
func (s *Server) local(host string) bool {
	if host == s.Addr {
		return true
	}
	own, port, err := net.SplitHostPort(s.Addr)
	name, other, err2 := net.SplitHostPort(host)
	if err != nil || err2 != nil || port != other {
		return false
	}
	ip := net.ParseIP(own)
	loop := own == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
	return loop && (name == "localhost" || name == "127.0.0.1" || name == "::1") || ip != nil && ip.IsUnspecified() && net.ParseIP(name) != nil
}

// errLate is what a client is told whose answer takes too long.
var errLate = errors.New("the server is too busy to answer in time; try again, or use the command")

// do runs a job when its turn comes.
func (s *Server) do(ctx context.Context, j front.Job) (*job.Answer, error) {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	a, err := s.Run(ctx, j)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return a, err
}
