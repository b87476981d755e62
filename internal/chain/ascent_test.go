package chain

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomForm returns a form of several parts with n variables a class on average, weighted as the norm of its operator asks for.
func randomForm(rng *rand.Rand) *Form {
	const chains, length, classes = 3000, 10, 5000
	f := &Form{N: 6, Z: 0.7, Start: []int32{0}, Weight: make([]float64, classes)}
	f.Prepare(length)
	for range chains {
		w := (0.5 + rng.Float64()) / chains
		f.Chains = append(f.Chains, w)
		for i := range length {
			c := rng.IntN(classes)
			f.Class, f.Cost, f.Share = append(f.Class, int32(c)), append(f.Cost, float64(i)), append(f.Share, w)
			f.Weight[c] += w / 6
		}
		f.Start = append(f.Start, int32(len(f.Class)))
	}
	for i, c := range f.Class {
		f.Share[i] /= f.Weight[c]
	}
	return f
}

func ascend(f *Form, iterations int) *Ascent {
	a := NewAscent(f, NewPoint(f), 1)
	a.Run(context.Background(), iterations, func() Outcome { return Going })
	return a
}

// TestAscentKnowsItsRows: A x of the points, which the averages carry along, is that of their variables.
func TestAscentKnowsItsRows(t *testing.T) {
	f := randomForm(rand.New(rand.NewPCG(7, 8)))
	a := ascend(f, 200)
	require.Greater(t, len(a.parts), 1)
	for name, of := range map[string][2][]float64{"now": {a.Now.X, a.at.now}, "image": {a.Image.X, a.at.image}, "anchor": {a.anchor.X, a.at.anchor}} {
		want := make([]float64, len(f.Weight))
		for i, c := range f.Class {
			want[c] += f.Share[i] * of[0][i]
		}
		assert.InDeltaSlice(t, want, of[1], 1e-11, name)
	}
	infeasible, primal := 0.0, 0.0
	for c, v := range a.at.image {
		infeasible += f.Weight[c] * math.Abs(1-v)
	}
	for s, w := range f.Chains {
		for i := f.Start[s]; i < f.Start[s+1]; i++ {
			primal += w * f.Cost[i] * a.Image.X[i]
		}
	}
	assert.InDelta(t, infeasible, a.Infeasible, 1e-12)
	assert.InDelta(t, primal, a.Primal, 1e-12)
}

// TestAscentIgnoresProcessors: however many take part, the numbers are the same.
func TestAscentIgnoresProcessors(t *testing.T) {
	f := randomForm(rand.New(rand.NewPCG(9, 10)))
	many := ascend(f, 150)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := ascend(f, 150)
	assert.Equal(t, one.Image, many.Image)
	assert.Equal(t, one.Best, many.Best)
	assert.Equal(t, one.Omega, many.Omega)
}

// TestBothBoundsApproach: where Spread is set, the primal weight moves towards what makes both errors alike.
func TestBothBoundsApproach(t *testing.T) {
	f := randomForm(rand.New(rand.NewPCG(11, 12)))
	for _, c := range []struct {
		infeasible, omega float64
	}{{0, 1. / 16}, {1e-9, 0.1414}, {2.5e-6, 1}, {1e-3, 4.472}, {100, 16}} {
		a := NewAscent(f, NewPoint(f), 1)
		a.Spread, a.Primal, a.Bound, a.Infeasible = 4, 1.00001, 1, c.infeasible
		a.restart()
		assert.InEpsilon(t, c.omega, a.Omega, 1e-3)
	}
}
