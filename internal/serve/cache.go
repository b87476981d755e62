package serve

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"optratio/internal/document"
	"optratio/internal/front"
	"optratio/internal/job"
)

// cache keeps the answers of the last jobs, so many bytes of them. The oldest go first.
type cache struct {
	mu         sync.Mutex
	most, held int
	order      []key
	found      map[key]*job.Answer
}

// maxCache is how many bytes of answers a server keeps; kept is what the entry of one takes beside its texts.
const (
	maxCache = 64 << 20
	kept     = 256
)

// key stands for a job, whose files may be long.
type key [sha256.Size]byte

func newCache(most int) *cache { return &cache{most: most, found: map[key]*job.Answer{}} }

func keyOf(j front.Job) key {
	question, err := json.Marshal(j.Question)
	if err != nil {
		panic(err) // a question of ours that is no JSON
	}
	h := sha256.New()
	fmt.Fprintf(h, "%T %s %q %d", j.Question, question, j.Files, j.Limit)
	return key(h.Sum(nil))
}

func (c *cache) get(k key) (*job.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.found[k]
	return a, ok
}

// size is about what an answer takes: its documents have their numbers in them twice, as they are and as text.
func size(a *job.Answer) int {
	sum := kept
	for _, d := range a.Documents {
		sum += 2 * len(document.Encode(d))
	}
	return sum
}

// put keeps an answer that takes no more than a sixteenth of the whole.
func (c *cache) put(k key, a *job.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.found[k]; known || size(a) > c.most/16 {
		return
	}
	for c.held += size(a); c.held > c.most; c.order = c.order[1:] {
		c.held -= size(c.found[c.order[0]])
		delete(c.found, c.order[0])
	}
	c.order, c.found[k] = append(c.order, k), a
}
