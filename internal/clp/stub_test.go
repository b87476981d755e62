//go:build !clp || !cgo

package clp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWithoutCLP(t *testing.T) {
	s, err := New()
	assert.Nil(t, s)
	assert.False(t, Available)
	assert.ErrorContains(t, err, "-tags clp")
	assert.NotContains(t, err.Error(), "\n")
}
