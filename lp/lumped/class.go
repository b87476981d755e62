package lumped

import (
	"fmt"
	"slices"
)

// Partition says which statistics of a count vector tell classes apart. With start = 0 where m_0 >= 2, and
// else the gap, which is the depth of the second best candidate, a class consists of the vectors that agree on
//
//   - start and the deepest depth,
//   - the counts at the Top depths from start on,
//   - the counts at the Bottom deepest depths, up to the deepest.
//
// Counts of Cap or more are not told apart where Cap is not 0. Larger Top, Bottom and Cap give finer partitions.
type Partition struct {
	Top    int // at least 1
	Bottom int // at least 0
	Cap    int // 0 for exact counts, else at least 2
}

// Named partitions.
var (
	Coarse = Partition{Top: 1}
	Fine   = Partition{Top: 2}
)

func (p Partition) String() string {
	s := fmt.Sprintf("top %d", p.Top)
	if p.Bottom > 0 {
		s += fmt.Sprintf(", bottom %d", p.Bottom)
	}
	if p.Cap > 0 {
		s += fmt.Sprintf(", counts below %d", p.Cap)
	}
	return s
}

func (p Partition) check() error {
	if p.Top < 1 || p.Bottom < 0 || p.Cap < 0 || p.Cap == 1 {
		return fmt.Errorf("%w: partition with %d top depths, %d bottom depths and counts below %d", ErrInput, p.Top, p.Bottom, p.Cap)
	}
	return nil
}

// cut replaces a count that p does not tell from Cap by Cap.
func (p Partition) cut(count int) int {
	if p.Cap > 0 {
		return min(count, p.Cap)
	}
	return count
}

// A Class is a set of count vectors, written as what they have in common: a count for each depth 0..k,
// cut at Cap, or Unknown. Depths between the top and the bottom are unknown; where Bottom is 0 so is the
// count at the deepest one, which is then known to be positive.
type Class struct {
	Counts  []int
	Deepest int
}

// Unknown marks a depth whose count a class leaves open.
const Unknown = -1

// Of returns the class of the count vector m, or of what is known of it: m may be a class, cut by p, of which one candidate was
// moved or added. Its counts near the top and bottom must be known.
func (p Partition) Of(m []int) Class {
	c := Class{Counts: make([]int, len(m))}
	p.of(m, &c)
	return c
}

// of is Of into given storage.
func (p Partition) of(m []int, c *Class) {
	k := len(m) - 1
	deepest := k
	for deepest > 0 && m[deepest] == 0 {
		deepest--
	}
	c.Deepest = deepest
	start := 0
	if m[0] < 2 {
		for start = 1; start < deepest && m[start] == 0; start++ {
		}
	}
	for v := range c.Counts {
		switch {
		case v == 0 || v < start+p.Top || v > deepest-p.Bottom:
			if m[v] == Unknown {
				panic("lumped: class of a vector that is not known well enough")
			}
			c.Counts[v] = p.cut(m[v])
		default:
			c.Counts[v] = Unknown
		}
	}
}

// key identifies the class within its partition.
func (c *Class) key(buf []byte) []byte {
	buf = append(buf[:0], byte(c.Deepest), byte(c.Deepest>>8))
	for _, m := range c.Counts {
		buf = append(buf, byte(m), byte(m>>8), byte(m>>16), byte(m>>24))
	}
	return buf
}

// clone returns a copy that shares nothing with c.
func (c *Class) clone() Class { return Class{slices.Clone(c.Counts), c.Deepest} }

// census counts what a class leaves open.
type census struct {
	known  int  // candidates surely there: the counts, capped ones taken as Cap
	capped int  // depths with Cap candidates or more
	open   int  // depths with any number of candidates
	last   bool // whether the deepest one of these surely has some
}

func (p Partition) census(c *Class) census {
	var s census
	for v, m := range c.Counts[:c.Deepest+1] {
		switch {
		case m == Unknown:
			s.open++
			s.last = v == c.Deepest
		default:
			s.known += m
			if p.Cap > 0 && m == p.Cap {
				s.capped++
			}
		}
	}
	return s
}

// empty reports whether no n candidates fit the class.
func (p Partition) empty(c *Class, n int) bool {
	s := p.census(c)
	left := n - s.known
	if s.last {
		left--
	}
	return left < 0 || left > 0 && s.open == 0 && s.capped == 0
}
