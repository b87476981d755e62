//go:build unix

package audit

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/verify"
)

// counting sets n to the number of samples that the question q wants.
const counting = `n=${q##*:}; n=${n%\}}`

// severalOf returns children of a command that draw in the order in which they are started.
func severalOf(t *testing.T, children int, command, outcomes string) (sampler, []*asker) {
	t.Helper()
	o := samplerOptions(t, "1", 1000)
	o.N, o.Outcomes, o.program.Children = 2, outcomes, children
	require.NoError(t, o.complete())
	space, _, err := o.sampleDomain()
	require.NoError(t, err)
	var askers []*asker
	for i := range children {
		o := o
		o.program.Command = fmt.Sprintf("i=%d; %s", i, command)
		a := newAsker(context.Background(), space, &o)
		t.Cleanup(a.child.stop)
		askers = append(askers, a)
	}
	return newSampler(&program{children: askers}), askers
}

// Samples are dealt evenly, the rest to the first children; sums and splits are those of the shares.
func TestChildrenShareSamples(t *testing.T) {
	s, _ := severalOf(t, 3, `while read -r q; do `+counting+`; echo "{\"counts\":[$i,$((n-i))]}"; done`, Index)
	for range 3 {
		got, event, err := s.Sample(inquiry.Vector{0, 0}, 32)
		require.NoError(t, err)
		require.Empty(t, event)
		assert.Equal(t, []int64{0 + 1 + 2, 29}, got)
		assert.Equal(t, [][]int64{{0, 11}, {1, 10}, {2, 8}}, s.(divided).splits())
	}
	// Of fewer samples than children the last ones draw none.
	got, _, err := s.Sample(inquiry.Vector{0, 0}, 2)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 1}, got)
	assert.Equal(t, [][]int64{{0, 1}, {1, 0}, nil}, s.(divided).splits())
}

// Labels have the numbers that the order of the children gives them, whichever answers first; values come in that order.
func TestChildrenOfOtherOutcomes(t *testing.T) {
	for range 5 {
		s, _ := severalOf(t, 2, `while read -r q; do `+counting+`; [ $i = 0 ] && sleep 0.01; echo "{\"counts\":{\"only $i\":1,\"both\":$((n-1))}}"; done`, Labels)
		got, event, err := s.Sample(inquiry.Vector{0, 0}, 20)
		require.NoError(t, err)
		require.Empty(t, event)
		assert.Equal(t, []string{"both", "only 0", "only 1"}, s.(*program).all.names)
		assert.Equal(t, []int64{18, 1, 1}, got)
		assert.Equal(t, [][]int64{{9, 1}, {9, 0, 1}}, s.(divided).splits())
	}
	s, _ := severalOf(t, 2, `while read -r q; do echo "{\"values\":[$i,$i.5]}"; done`, Real)
	b := s.(*learning[float64])
	b.partition.(*binned).cuts = []float64{1}
	counts, _, err := b.Sample(inquiry.Vector{0, 0}, 4)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 1, 1}, counts)
	assert.Equal(t, [][]int64{{2, 0, 0}, {0, 1, 1}}, s.(divided).splits())
}

// A child that dies is an event of the question, and started again by itself; the others go on.
func TestChildrenStartedAgain(t *testing.T) {
	s, askers := severalOf(t, 2, `while read -r q; do `+counting+`; k=$((k+1)); [ $i$k = 13 ] && exit 7; echo "{\"counts\":[$n,0]}"; done`, Index)
	for question := 1; question <= 5; question++ {
		got, event, err := s.Sample(inquiry.Vector{0, 0}, 8)
		require.NoError(t, err)
		if question == 3 {
			assert.Contains(t, event, "exit status 7")
			continue
		}
		assert.Empty(t, event)
		assert.Equal(t, []int64{8, 0}, got)
	}
	assert.Equal(t, []int{1, 2}, []int{askers[0].child.starts, askers[1].child.starts})
	a := gather(askers)
	assert.EqualValues(t, 10, a.questions)
	require.Len(t, a.findings, 1)
	assert.Contains(t, a.findings[0].Detail, "exit status 7")
}

// seeded draws candidate 0 with probability 0.6, by a linear congruential generator that starts with $s.
const seeded = `while read -r q; do ` + counting + `; c=0; j=0
while [ $j -lt $n ]; do s=$(( (s*1103515245+12345) & 2147483647 )); [ $((s>>16)) -lt 19660 ] && c=$((c+1)); j=$((j+1)); done
echo "{\"counts\":[$c,$((n-c))]}"; done`

// Children that start with one seed repeat each other, which is found; those with seeds of their own do not.
func TestChildrenIndependent(t *testing.T) {
	audit := func(start string, children int) *Report {
		o := samplerOptions(t, "1", 8000)
		o.N, o.program.Children = 2, children
		r, err := samplesOf(context.Background(), start+"; "+seeded, o)
		require.NoError(t, err)
		return r
	}
	alone := audit("s=1", 1).Find(Independence) // one child of the same program does not repeat itself
	assert.NotEqual(t, verify.Violated, alone.Verdict, alone.Reason)
	same := audit("s=1", 4).Find(Independence)
	assert.Equal(t, verify.Violated, same.Verdict, same.Reason)
	own := audit(fmt.Sprintf("s=1; while ! mkdir %s/$s 2>/dev/null; do s=$((s+1)); done; s=$((s*7919))", t.TempDir()), 4)
	assert.NotEqual(t, verify.Violated, own.Find(Independence).Verdict, own.Find(Independence).Reason)
	assert.Positive(t, own.Find(Independence).Checked)
	assert.NotEqual(t, verify.Violated, own.Find(verify.DP).Verdict)
}

// What several children are asked depends on nothing but their place: the same draws of each give the same report, whichever is faster.
func TestChildrenReproducible(t *testing.T) {
	var first string
	for run := range 3 {
		o := samplerOptions(t, "1", 3000)
		o.N, o.program.Children = 2, 3
		require.NoError(t, o.complete())
		space, dom, err := o.sampleDomain()
		require.NoError(t, err)
		var askers []*asker
		for i := range o.program.Children {
			o := o
			o.program.Command = fmt.Sprintf("s=%d; %s", 7919*(i+1), seeded)
			a := newAsker(context.Background(), space, &o)
			t.Cleanup(a.child.stop)
			askers = append(askers, a)
		}
		r, err := o.statistics(context.Background(), "several", newSampler(&program{children: askers}), space, dom)
		require.NoError(t, err)
		if text := r.String(); run == 0 {
			first = text
		} else {
			assert.Equal(t, first, text)
		}
	}
}

func TestChildrenRefused(t *testing.T) {
	for _, n := range []int{-1, mostChildren + 1} {
		o := samplerOptions(t, "1", 1000)
		o.program.Children = n
		_, err := samplesOf(context.Background(), "cat", o)
		assert.ErrorIs(t, err, errOptions)
	}
}
