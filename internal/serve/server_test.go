package serve

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"optratio/internal/document"
	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/lp"
	"optratio/number"
)

// TestEveryRequestIsAnswered: where no job ever ends by itself, each of many clients is told so, be it that its turn does not come or that its own jobs, of which drawing a page
// may start more, take too long.
func TestEveryRequestIsAnswered(t *testing.T) {
	s := New(Config{
		Addr: "localhost:1", Parallel: 2,
		Run: func(ctx context.Context, _ front.Job) (*job.Answer, error) {
			<-ctx.Done() // as a job does that looks at the limits
			return nil, context.Cause(ctx)
		},
	})
	s.patient = 200 * time.Millisecond
	codes := make([]int, 60)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() {
			r := httptest.NewRequest("GET", fmt.Sprintf("http://localhost:1/rate?n=%d&k=3", 2+i%50), nil)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			codes[i] = w.Code
		})
	}
	all.Wait()
	for i, code := range codes {
		assert.Equal(t, 503, code, "client %d", i)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:1/rate?n=60&k=3&part=1", nil))
	assert.Contains(t, w.Body.String(), errLate.Error())
	assert.Contains(t, w.Body.String(), `"more":false,"failed":true`)
	assert.Less(t, answerLimit, 30*time.Second)
}

// ratios is an undecided answer that rates these mechanisms.
func ratios(names ...string) *job.Answer {
	d := &document.Ratio{N: 2, K: 1, AtEpsilon: document.At("0.5", ""), Objective: "paper", Step: "2delta", Loss: "mean", Prior: "uniform", Optimum: number.Int(1)}
	for _, name := range names {
		d.Mechanisms = append(d.Mechanisms, lp.Rated{Name: name, Error: number.Int(1), Ratio: number.Int(1)})
	}
	return &job.Answer{Documents: []document.Document{d}, Undecided: "so far"}
}

// TestStreamedAnswerStands: what was answered is not replaced by the news that there is no time for a better answer.
func TestStreamedAnswerStands(t *testing.T) {
	jobs := 0
	s := New(Config{
		Addr: "localhost:1", Parallel: 1,
		Run: func(ctx context.Context, _ front.Job) (*job.Answer, error) {
			if jobs++; jobs > 1 {
				<-ctx.Done()
			}
			return ratios("pf"), nil
		},
	})
	s.patient = 3 * time.Second // enough for the first job on a busy machine
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:1/rate?n=5&k=3&part=1", nil))
	assert.Equal(t, 2, jobs)
	assert.Equal(t, 2, strings.Count(w.Body.String(), `"kind":"answer"`))
	assert.NotContains(t, w.Body.String(), errLate.Error())
	assert.True(t, strings.HasSuffix(w.Body.String(), "\"more\":false,\"failed\":false}\n"))
}

// TestOtherPagesAreRefused: browsers say which page a request comes from; only the server's own pages and the address bar are answered.
func TestOtherPagesAreRefused(t *testing.T) {
	s := New(Config{Addr: "localhost:1", Parallel: 1})
	for site, want := range map[string]int{"": 200, "none": 200, "same-origin": 200, "same-site": 403, "cross-site": 403, "new-word": 403} {
		r := httptest.NewRequest("GET", "http://localhost:1/app.css", nil)
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, site)
	}
}
