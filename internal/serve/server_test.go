package serve

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"optratio/internal/front"
)

// TestEveryRequestIsAnswered: where no job ever ends by itself, each of many clients is told so, be it that its turn does not come or that its own jobs, of which drawing a page
// may start more, take too long.
func TestEveryRequestIsAnswered(t *testing.T) {
	s := New(Config{
		Addr: "localhost:1", Parallel: 2, Mechanisms: []string{"pf", "em"},
		Run: func(ctx context.Context, _ []string) (int, []byte, string) {
			<-ctx.Done() // as a job does that looks at the limits
			return 3, nil, ""
		},
	})
	s.wait, s.patient, s.stream = 50*time.Millisecond, 200*time.Millisecond, 200*time.Millisecond
	codes := make([]int, 60)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() {
			r := httptest.NewRequest("GET", fmt.Sprintf("http://localhost:1/?n=%d&k=3", 2+i%50), nil)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			codes[i] = w.Code
		})
	}
	all.Wait()
	for i, code := range codes {
		assert.Contains(t, []int{429, 503}, code, "client %d", i)
	}
	assert.True(t, slices.Contains(codes, 429) && slices.Contains(codes, 503))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:1/events?n=60&k=3", nil))
	assert.Contains(t, w.Body.String(), errLate.Error())
	assert.Contains(t, w.Body.String(), "event: end")
	assert.Less(t, waitLimit, answerLimit)
	assert.LessOrEqual(t, answerLimit, streamLimit)
	assert.Less(t, streamLimit, 30*time.Second)
}

const ratioDocument = `{"schema":"optratio.ratio/1","n":2,"k":1,"eps":"0.5","exp_eps":null,"objective":"paper","constraints":"paper","orbits":2,"variables":3,"proof":"dual-recurrence","solver":"none","pivots":0,"seconds":0.000257799,"step":"2delta","loss":"mean","prior":"uniform","optimum":{"lower":"0.202176886570877807867933178330393484480639378495728985227628","upper":"0.202176886570877807867933178330393484480639378495728985227634","exact":null},"pf_optimal":true,"mechanisms":[{"name":"pf","error":{"lower":"0.202176886570877807867933178330393484480639378495728985227628","upper":"0.202176886570877807867933178330393484480639378495728985227634","exact":null},"ratio":{"lower":"1","upper":"1","exact":"1"}}]}`

// TestStreamedAnswerStands: what was answered is not replaced by the news that there is no time for a better answer.
func TestStreamedAnswerStands(t *testing.T) {
	jobs := 0
	s := New(Config{
		Addr: "localhost:1", Parallel: 1, Mechanisms: []string{"pf", "em"},
		Run: func(ctx context.Context, _ []string) (int, []byte, string) {
			if jobs++; jobs > 1 {
				<-ctx.Done()
			}
			return 3, []byte(ratioDocument), ""
		},
	})
	s.stream = 3 * time.Second // enough for the first job on a busy machine
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:1/events?n=5&k=3", nil))
	assert.Equal(t, 2, jobs)
	assert.Equal(t, 1, strings.Count(w.Body.String(), "event: answer"))
	assert.NotContains(t, w.Body.String(), errLate.Error())
	assert.Contains(t, w.Body.String(), "event: end")
}

// TestCacheIsBounded: hundreds of long tables and of long answers leave no more than the cache may hold.
func TestCacheIsBounded(t *testing.T) {
	c := newCache(1 << 20)
	held := func() (sum int) {
		for _, a := range c.found {
			sum += size(a)
		}
		return sum
	}
	table := func(i int) front.Job {
		return front.Job{Args: []string{"audit"}, Files: map[string]string{"table.jsonl": fmt.Sprint(strings.Repeat(" ", 1<<14), i)}}
	}
	for i := range 300 {
		c.put(keyOf(table(i)), front.Answer{Document: make([]byte, 1000*(i%60)), Message: strings.Repeat("x", i)})
		assert.LessOrEqual(t, held(), 1<<20)
		assert.Equal(t, held(), c.held)
		assert.Len(t, c.order, len(c.found))
	}
	assert.Greater(t, len(c.found), 20)
	_, last := c.get(keyOf(table(299)))
	_, first := c.get(keyOf(table(0)))
	assert.True(t, last && !first)
	c.put(keyOf(table(300)), front.Answer{Document: make([]byte, 1<<17)})
	_, long := c.get(keyOf(table(300)))
	assert.False(t, long, "one answer does not put out many")
	assert.NotEqual(t, keyOf(front.Job{Args: []string{"\x80"}}), keyOf(front.Job{Args: []string{"\x81"}}))
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
