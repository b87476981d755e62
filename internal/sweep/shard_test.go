package sweep

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShards(t *testing.T) {
	s, err := ParseShard("2/3")
	require.NoError(t, err)
	assert.Equal(t, Shard{2, 3}, s)
	for _, text := range []string{"", "1", "3/3", "-1/3", "0/0", "a/3", "1/b", "1/3/5", "0/-1"} {
		_, err := ParseShard(text)
		assert.ErrorIs(t, err, ErrShard, "%q", text)
	}
	slurm := func(id, count, first, last, step string) map[string]string {
		return map[string]string{"SLURM_ARRAY_TASK_ID": id, "SLURM_ARRAY_TASK_COUNT": count, "SLURM_ARRAY_TASK_MIN": first, "SLURM_ARRAY_TASK_MAX": last, "SLURM_ARRAY_TASK_STEP": step}
	}
	for _, c := range []struct {
		env  map[string]string
		want Shard // the zero value for an error
	}{
		{nil, Shard{0, 1}},
		{slurm("0", "4", "0", "3", "1"), Shard{0, 4}},
		{slurm("3", "4", "0", "3", "1"), Shard{3, 4}},
		{slurm("6", "4", "2", "8", "2"), Shard{2, 4}}, // --array=2-8:2
		{slurm("5", "1", "5", "5", "1"), Shard{0, 1}}, // --array=5
		{slurm("5", "2", "1", "5", "1"), Shard{}},     // --array=1,5
		{slurm("4", "4", "0", "3", "1"), Shard{}},
		{slurm("x", "4", "0", "3", "1"), Shard{}},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "3"}, Shard{2, 3}},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "2"}, Shard{}},
		{map[string]string{"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "3"}, Shard{1, 3}},
		{map[string]string{"JOB_COMPLETION_INDEX": "1"}, Shard{}},
		{map[string]string{"JOB_COMPLETION_INDEX": "3", "JOB_COMPLETIONS": "3"}, Shard{}},
	} {
		got, err := Environment(func(name string) string { return c.env[name] })
		if c.want == (Shard{}) {
			assert.ErrorIs(t, err, ErrShard, "%v", c.env)
			continue
		}
		assert.NoError(t, err, "%v", c.env)
		assert.Equal(t, c.want, got, "%v", c.env)
	}
}
