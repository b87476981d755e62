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

// cache keeps the last answers, so many of them, whose documents are not long.
type cache struct {
	mu    sync.Mutex
	order []key
	found map[key]*job.Answer
}

const (
	maxKept = 512
	longest = 1 << 16 // bytes of an answer's documents
)

// key stands for a job, whose files may be long.
type key [sha256.Size]byte

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

func (c *cache) put(k key, a *job.Answer) {
	length := 0
	for _, d := range a.Documents {
		length += len(document.Encode(d))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.found[k]; known || length > longest {
		return
	}
	if c.order, c.found[k] = append(c.order, k), a; len(c.order) > maxKept {
		delete(c.found, c.order[0])
		c.order = c.order[1:]
	}
}
