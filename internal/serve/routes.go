package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/number"
)

func (s *Server) routes() {
	for _, v := range s.site.Views() {
		path := "/" + v.Name
		if v.Name == "" {
			path = "/{$}"
		}
		view := func(w http.ResponseWriter, r *http.Request) { s.view(w, r, v.Name) }
		s.mux.HandleFunc("GET "+path, view)
		s.mux.HandleFunc("POST "+path, view)
	}
	for name, data := range map[string][]byte{"app.js": front.Script, "app.css": []byte(front.Style())} {
		s.mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
		})
	}
}

// view answers a form: with a page, or with what happens as a part of one.
func (s *Server) view(w http.ResponseWriter, r *http.Request, name string) {
	err := r.ParseForm()
	c := s.site.Begin(name, r.Form)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		c.Err = fmt.Errorf("that is more than %d bytes; use the command for it: %w", maxBody, large)
	case err != nil:
		c.Err = number.InputError(err.Error())
	}
	if r.Form.Get("part") != "" {
		stream(w, r, c)
		return
	}
	c.Whole(r.Context())
	var b bytes.Buffer
	if err := c.WritePage(&b); err != nil {
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
	}
	return http.StatusServiceUnavailable
}

// stream tells what happens, an object a line: what is known soon, and better answers until it is decided or the last stage ends or there is no time left.
// The job ends when the client goes away.
func stream(w http.ResponseWriter, r *http.Request, c *front.Course) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	control := http.NewResponseController(w)
	tell := func(e front.Event) {
		_ = control.SetWriteDeadline(time.Now().Add(writeLimit))
		_ = json.NewEncoder(w).Encode(e)
		_ = control.Flush()
	}
	for r.Context().Err() == nil && c.Step(r.Context(), tell) {
	}
}
