// Command flip draws from permute-and-flip, for optratio audit --sample-exec.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
)

type question struct {
	Scores      []float64 `json:"scores"`
	Epsilon     float64   `json:"epsilon"`
	Sensitivity float64   `json:"sensitivity"`
	Samples     int       `json:"samples"`
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q question
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		counts := make([]int, len(q.Scores))
		for range q.Samples {
			counts[draw(q)]++
		}
		if err := out.Encode(map[string][]int{"counts": counts}); err != nil {
			log.Fatal(err)
		}
	}
}

// draw visits the candidates in a random order and takes the first whose coin shows heads; the best one's
// always does.
func draw(q question) int {
	best := slices.Max(q.Scores)
	for _, r := range rand.Perm(len(q.Scores)) {
		if rand.Float64() < math.Exp(q.Epsilon*(q.Scores[r]-best)/(2*q.Sensitivity)) {
			return r
		}
	}
	panic("the best candidate is always taken")
}
