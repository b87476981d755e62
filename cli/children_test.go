//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
)

// fugitives is a program that never answers, and first starts processes that leave it in several ways, each of which writes its
// number to a file of the folder $D: a session of its own, two forks, both, deaf to signals, and a chain of them.
const fugitives = `
setsid sh -c 'echo $$ > $D/session; exec sleep 900' &
( (sh -c 'echo $$ > $D/forked; exec sleep 900') & )
( (setsid sh -c 'echo $$ > $D/both; exec sleep 900' >/dev/null 2>&1 </dev/null) & )
setsid sh -c 'trap "" INT TERM HUP; echo $$ > $D/deaf; while :; do sleep 0.1; done' >/dev/null 2>&1 &
setsid sh -c '(setsid sh -c "(setsid sh -c \"echo \\\$\\\$ > \$D/chain; exec sleep 900\" &)" &)' &
sleep 900`

var fugitiveNames = []string{"session", "forked", "both", "deaf", "chain"}

// awaitFugitives returns the numbers of the processes that fugitives starts.
func awaitFugitives(t *testing.T, folder string) (pids []int) {
	for _, name := range fugitiveNames {
		require.Eventually(t, func() bool {
			text, _ := os.ReadFile(filepath.Join(folder, name))
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err == nil {
				pids = append(pids, pid)
			}
			return err == nil
		}, time.Minute, 5*time.Millisecond, name)
	}
	return pids
}

// gone wants that none of the processes runs any more, soon.
func gone(t *testing.T, pids []int, how string) {
	for i, pid := range pids {
		assert.Eventually(t, func() bool {
			stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, 20*time.Second, 5*time.Millisecond, "%s: %s survives", how, fugitiveNames[i])
		_ = syscall.Kill(pid, syscall.SIGKILL) // nothing that this test started may survive it
	}
}

// However the command ends, SIGKILL included, nothing survives that a program under audit started.
func TestNothingSurvives(t *testing.T) {
	for how, signal := range map[string]os.Signal{
		"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM, "SIGKILL": syscall.SIGKILL, "limit": nil, "timeout": nil,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			args := []string{"audit", "--pmf-exec", fugitives, "--eps", "1"}
			switch how {
			case "timeout": // the program is ended as it does not answer
				args = append(args, "--timeout", "300ms")
			case "limit":
				args = append(args, "--time-limit", "1s", "--timeout", "900s")
			default:
				args = append(args, "--timeout", "900s")
			}
			c := exec.Command(os.Args[0], args...)
			c.Env = append(os.Environ(), commandtest.AsCommand+"=1", "D="+folder)
			require.NoError(t, c.Start())
			pids := awaitFugitives(t, folder)
			if signal != nil {
				require.NoError(t, c.Process.Signal(signal))
			}
			_ = c.Wait()
			gone(t, pids, how)
		})
	}
}

// What a program and its children hold counts for --max-memory.
func TestMemoryOfPrograms(t *testing.T) {
	// tail keeps what it cannot write, in a process that has left the group.
	hold := `setsid sh -c 'head -c 300000000 /dev/zero | tail -c 250000000 | sleep 900' & sleep 900`
	e := commandtest.Spawn(t, []string{"audit", "--pmf-exec", hold, "--eps", "1", "--timeout", "900s", "--max-memory", "200M", "--json"})
	doc := e.Check(t, command.Undecided)
	assert.Contains(t, e.Err, "the memory limit of 200M was reached, of which the program under audit holds")
	assert.NotEmpty(t, doc["properties"])
}

// Programs get the environment.
func TestEnvironmentOfPrograms(t *testing.T) {
	t.Setenv("SECRET_OF_THE_CALLER", "x")
	for _, args := range [][]string{
		{"audit", "--eps", "1", "-n", "1", "-k", "1", "--property", "dp"},
		{"ratio", "--eps", "1", "-n", "1", "-k", "1"},
	} {
		file := filepath.Join(t.TempDir(), "environment")
		e := commandtest.Spawn(t, append(args, "--pmf-exec", "env > "+file+`; while read q; do echo '{"pmf":["1"]}'; done`))
		assert.Equal(t, command.Done, e.Code, e.Err)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), "SECRET_OF_THE_CALLER")
	}
}

// A sampler's audit that meets its time limit is undecided, although samples that find nothing exit 0.
func TestStoppedSamplersAreUndecided(t *testing.T) {
	pairs := filepath.Join(t.TempDir(), "pairs")
	require.NoError(t, os.WriteFile(pairs, []byte("0,0;1,-1\n"), 0o644))
	// So many questions are answered at once, enough for a bet, and the others slowly.
	sampler := `k=0; while read -r q; do n=${q##*:}; n=${n%%\}}; k=$((k+1)); [ $k -gt %d ] && sleep 0.3
		case $q in *'[0,0]'*) echo "{\"counts\":[$n,0]}";; *) echo "{\"counts\":[0,$n]}";; esac; done`
	for slowFrom, code := range map[int]int{40: command.Undecided, 1 << 30: command.Done} {
		e := commandtest.Spawn(t, []string{
			"audit", "--sample-exec", fmt.Sprintf(sampler, slowFrom), "-n", "2", "--neighbors", pairs, "--eps", "20", "--budget", "200k", "--time-limit", "2s", "--json",
		})
		doc := e.Check(t, code)
		dp := doc["properties"].([]any)[0].(map[string]any)
		assert.Equal(t, "undecided", dp["verdict"])
		assert.Positive(t, dp["checked"])
		if code == command.Undecided {
			assert.Contains(t, dp["reason"], "stopped")
		}
	}
}
