package optimum

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// TestManyEventsEnd: three users' choices make 64 outputs, which have more events than can be cut off one by one; the search ends all the same.
func TestManyEventsEnd(t *testing.T) {
	slowtest.Only(t)
	p := &Problem{Inputs: numerals(4), Outputs: numerals(4), Loss: [][]*big.Rat{
		rats(t, "3", "2", "1", "1/2"), rats(t, "2", "0", "1", "1"), rats(t, "0", "2", "1/4", "3"), rats(t, "3", "1/4", "1/4", "1/4"),
	}}
	p.Pairs = append(p.Pairs, []Pair{{0, 2, big.NewRat(3, 2)}, {1, 2, big.NewRat(2, 1)}, {3, 0, big.NewRat(1, 1)}, {3, 1, big.NewRat(3, 2)}, {3, 2, big.NewRat(1, 1)}}...)
	p.Prior = p.Uniform()
	eps, err := number.ParseEpsilon("3")
	require.NoError(t, err)
	a, err := Solve(context.Background(), Request{Problem: p, Epsilon: eps, Delta: big.NewRat(1, 10), Users: [][]*big.Rat{
		rats(t, "2/7", "2/7", "1/7", "2/7"), rats(t, "4/13", "2/13", "3/13", "4/13"), rats(t, "1/6", "1/6", "2/3", "0"),
	}})
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "events")
	assert.True(t, a.Users.Joint.IsRigorous())
}
