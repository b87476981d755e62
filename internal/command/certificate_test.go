package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/certtext"
	"optratio/internal/job"
	"optratio/number"
)

// TestCertificatesThatAreNotKept: what the checker does not accept, and what fails while it is written, leaves the file as it was, and the command ends as it would have.
func TestCertificatesThatAreNotKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.cert")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o644))
	file, err := CreateCertificate(path, number.Epsilon{})
	require.NoError(t, err)
	const witness = "optratio-certificate 3\nproblem witness\nproperty dp\nmechanism table\nexp-epsilon 2\ninput 1\nneighbor-input 2\ndistance 1\ndelta 0\nevent [0]\npmf %s\nneighbor-pmf 1/4\nend 12\n"
	written := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	violated := Exit(Violated, errors.New("violated: dp"))
	for name, c := range map[string]struct {
		write   func(io.Writer) error
		said    string
		alone   int // the exit code where the answer is not a violation
		printed string
	}{
		"a panic":     {func(io.Writer) error { var none []int; none[0]++; return nil }, "internal error", Undecided, ""},
		"no form":     {written("anything"), "does not accept it", Undecided, ""},
		"not shown":   {written(fmt.Sprintf(witness, "1/2")), "not violated there", Undecided, ""},
		"torn":        {written(fmt.Sprintf(witness, "3/4")[:100]), "does not accept it", Undecided, ""},
		"too large":   {written("optratio-certificate 3\nproblem stopping\nn 3000\n"), "does not accept it", Undecided, ""},
		"not written": {func(io.Writer) error { return io.ErrShortWrite }, "short write", Usage, ""},
		"none":        {func(io.Writer) error { return fmt.Errorf("%w: nothing was solved", certtext.ErrNone) }, "", Done, "nothing was solved"},
	} {
		for _, end := range []error{nil, violated} {
			var stderr bytes.Buffer
			err := file.CommitCertificate(context.Background(), Streams{Err: &stderr}, 1e9, c.write, end)
			if c.said == "" {
				assert.Equal(t, end, err, name)
			} else {
				assert.ErrorContains(t, err, c.said, name)
			}
			assert.Contains(t, stderr.String(), c.printed, name)
			var exit *ExitError
			want := c.alone
			if end != nil {
				want = Violated
				assert.ErrorContains(t, err, "violated: dp", name)
			}
			if errors.As(err, &exit) {
				assert.Equal(t, want, exit.Code, name)
			} else if want == Undecided {
				assert.ErrorIs(t, err, job.ErrInternal, name) // which run gives this code
			}
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "before", string(kept), name)
		}
	}
	good := fmt.Sprintf(witness, "3/4")
	require.Equal(t, violated, file.CommitCertificate(context.Background(), Streams{}, 1e9, written(good), violated))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, good, string(kept))
}
