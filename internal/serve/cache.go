package serve

import (
	"fmt"
	"sync"

	"optratio/internal/front"
)

// cache keeps the answers of the last jobs. The oldest go first.
type cache struct {
	mu    sync.Mutex
	most  int
	order []string
	found map[string]front.Answer
}

func newCache(most int) *cache { return &cache{most: most, found: map[string]front.Answer{}} }

// maxKept is the size of a document, in bytes, beyond which it is not kept.
const maxKept = 1 << 20

func key(j front.Job) string { return fmt.Sprintf("%q", j) }

func (c *cache) get(j front.Job) (front.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.found[key(j)]
	return a, ok
}

func (c *cache) put(j front.Job, a front.Answer) {
	k := key(j)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.found[k]; known || len(a.Document) > maxKept {
		return
	}
	if len(c.order) == c.most {
		delete(c.found, c.order[0])
		c.order = c.order[1:]
	}
	c.order, c.found[k] = append(c.order, k), a
}
