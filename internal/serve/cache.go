package serve

import (
	"strings"
	"sync"
)

// cache keeps the answers of the last jobs. The oldest go first.
type cache struct {
	mu    sync.Mutex
	most  int
	order []string
	found map[string]answer
}

func newCache(most int) *cache { return &cache{most: most, found: map[string]answer{}} }

// maxKept is the size of a document, in bytes, beyond which it is not kept.
const maxKept = 1 << 20

func key(args []string) string { return strings.Join(args, "\x00") }

func (c *cache) get(args []string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.found[key(args)]
	return a, ok
}

func (c *cache) put(args []string, a answer) {
	k := key(args)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.found[k]; known || len(a.document) > maxKept {
		return
	}
	if len(c.order) == c.most {
		delete(c.found, c.order[0])
		c.order = c.order[1:]
	}
	c.order, c.found[k] = append(c.order, k), a
}
