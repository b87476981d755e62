package serve

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
	s.wait, s.patient = 50*time.Millisecond, 200*time.Millisecond
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
	assert.Less(t, waitLimit, answerLimit)
	assert.LessOrEqual(t, answerLimit, 25*time.Second)
}
