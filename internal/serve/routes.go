package serve

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/number"
)

// streamPath is where the explorer's answers are streamed as they get better.
const streamPath = "/events"

func (s *Server) routes() {
	for _, name := range s.site.Views() {
		path := "/" + name
		if name == "" {
			path = "/{$}"
		}
		view := func(w http.ResponseWriter, r *http.Request) { s.view(w, r, name) }
		s.mux.HandleFunc("GET "+path, view)
		if s.site.Posts(name) {
			s.mux.HandleFunc("POST "+path, view)
		}
	}
	s.mux.HandleFunc("GET "+streamPath, s.events)
	for name, data := range map[string][]byte{"app.js": front.Script, "app.css": []byte(front.Style())} {
		s.mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
		})
	}
}

// view answers a form, and shows one that takes a long text before there is one.
func (s *Server) view(w http.ResponseWriter, r *http.Request, name string) {
	err := r.ParseForm()
	c := s.site.Begin(name, r.Form)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		c.Err = fmt.Errorf("that is more than %d bytes; use the command for it: %w", maxBody, large)
	case err != nil:
		c.Err = number.InputError(err.Error())
	case r.Method == http.MethodPost || !s.site.Posts(name):
		c.Whole(r.Context())
	}
	var b bytes.Buffer
	write := c.WritePage
	if r.URL.Query().Get("part") != "" {
		write = c.WriteAnswer
	}
	if err := write(&b); err != nil {
		c.Err = err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status(c.Err))
	_, _ = w.Write(b.Bytes())
}

// status is the code of an answer that ended with an error, or with none.
func status(err error) int {
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case job.IsInput(err):
		return http.StatusBadRequest
	case errors.Is(err, errBusy):
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

// events streams the answer of a ratio job: what is known after a second, and better answers until it is decided or the last
// stage ends or there is no time left; an answer then stands. The job ends when the client goes away.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	control := http.NewResponseController(w)
	send := func(event string, text []byte) {
		_ = control.SetWriteDeadline(time.Now().Add(writeLimit))
		fmt.Fprintf(w, "event: %s\n", event)
		for _, line := range bytes.Split(text, []byte("\n")) {
			fmt.Fprintf(w, "data: %s\n", line)
		}
		fmt.Fprint(w, "\n")
		_ = control.Flush()
	}
	c := s.site.Begin("", r.URL.Query())
	answered := false
	for more := true; more && r.Context().Err() == nil; {
		send("working", []byte(c.Working()))
		more = c.Next(r.Context())
		if limited := errors.Is(c.Err, errBusy) || errors.Is(c.Err, errLate); answered && limited {
			break
		}
		answered = true
		var b bytes.Buffer
		if err := c.WriteAnswer(&b); err == nil {
			send("answer", b.Bytes())
		}
	}
	send("end", []byte("end"))
}
