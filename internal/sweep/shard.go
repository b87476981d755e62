package sweep

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrShard is wrapped by errors about shards.
var ErrShard = errors.New("shard")

// Shard is one of Count parts of a grid, numbered from 0. The zero value is the whole.
type Shard struct{ Index, Count int }

// ParseShard reads "I/M".
func ParseShard(text string) (Shard, error) {
	left, right, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(left)
	count, err2 := strconv.Atoi(right)
	if !ok || err1 != nil || err2 != nil {
		return Shard{}, fmt.Errorf("%w %q is not I/M", ErrShard, text)
	}
	return Shard{index, count}.checked()
}

func (s Shard) checked() (Shard, error) {
	if s.Count < 1 || s.Index < 0 || s.Index >= s.Count {
		return Shard{}, fmt.Errorf("%w %d of %d: I goes from 0 to M-1", ErrShard, s.Index, s.Count)
	}
	return s, nil
}

// Environment returns the shard that a scheduler gave this process: a task of a Slurm job array, or a pod of a Kubernetes indexed Job,
// whose manifest sets JOB_COMPLETIONS. Without one it is the whole.
func Environment(getenv func(string) string) (Shard, error) {
	var failed error
	number := func(name string, missing int) int {
		text := getenv(name)
		if text == "" && missing >= 0 {
			return missing
		}
		x, err := strconv.Atoi(text)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%w: %s is %q, want a number", ErrShard, name, text)
		}
		return x
	}
	switch {
	case getenv("SLURM_ARRAY_TASK_ID") != "":
		id, count := number("SLURM_ARRAY_TASK_ID", -1), number("SLURM_ARRAY_TASK_COUNT", -1)
		first, step := number("SLURM_ARRAY_TASK_MIN", 0), number("SLURM_ARRAY_TASK_STEP", 1)
		last := number("SLURM_ARRAY_TASK_MAX", first+(count-1)*step)
		if failed == nil && (step < 1 || (id-first)%step != 0 || first+(count-1)*step != last) {
			failed = fmt.Errorf("%w: the job array's ids are not a range with one step", ErrShard)
		}
		if failed != nil {
			return Shard{}, failed
		}
		return Shard{(id - first) / step, count}.checked()
	case getenv("JOB_COMPLETION_INDEX") != "":
		s := Shard{number("JOB_COMPLETION_INDEX", -1), number("JOB_COMPLETIONS", -1)}
		if failed != nil {
			return Shard{}, failed
		}
		return s.checked()
	}
	return Shard{0, 1}, nil
}
