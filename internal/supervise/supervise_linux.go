package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A program may leave its process group (setsid), or fork twice so that what it left behind has no parent. So it runs below a supervisor:
// this executable again, under another name, which asks the kernel to be given all orphans among its descendants
// (PR_SET_CHILD_SUBREAPER) and therefore finds every process that the program started. The supervisor reads from a pipe, the lifeline, that
// only the process that started it has the other end of. However that one ends, SIGKILL included, the kernel closes that end, and the supervisor
// then kills all its descendants. A parent-death signal alone would not do: it reaches one process, not what that one started, and it is
// sent when a thread ends, which Go programs do not choose.

// supervisorName is the first argument of a supervisor; the path of a shell and the command line follow.
const supervisorName = "optratio: supervisor of a program under audit"

// File descriptors of a supervisor.
const (
	lifelineFD = 3 // ends when the audit wants the program to end, or has ended itself
	statusFD   = 4 // gets the wait status of the command, as a decimal number
)

// patience is how long what ends by itself may take.
const patience = 2 * time.Second

const prSetChildSubreaper = 36 // of prctl(2)

// enabled says that this executable becomes a supervisor where it is started as one.
var enabled bool

// Enable makes programs that are started from now on run below a supervisor. Call it first in main: where the process was started as a supervisor,
// it does that work and ends.
func Enable() {
	if len(os.Args) == 3 && os.Args[0] == supervisorName {
		runtime.LockOSThread() // or the parent-death signal would come with the end of a thread, not of the process
		supervise(os.Args[1], os.Args[2])
		os.Exit(0)
	}
	enabled = true
}

// supervise runs a command on the standard streams, reports how it ended, and returns when none of its descendants is left.
func supervise(shell, command string) {
	syscall.CloseOnExec(lifelineFD)
	syscall.CloseOnExec(statusFD)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	cmd := exec.Command(shell, "-c", command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A group of its own, so that a program that signals its group does not hit the supervisor.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if cmd.Start() != nil {
		_, _ = syscall.Write(statusFD, []byte(strconv.Itoa(127<<8))) // as a shell says that there is no such program
		return
	}
	letGo()
	go func() {
		var b [1]byte
		for {
			if _, err := syscall.Read(lifelineFD, b[:]); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		for {
			killDescendants()
			time.Sleep(time.Millisecond)
		}
	}()
	var status syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(-1, &status, 0, nil) // orphans, too
		if err != nil && !errors.Is(err, syscall.EINTR) || pid == cmd.Process.Pid {
			break
		}
	}
	_, _ = syscall.Write(statusFD, []byte(strconv.FormatUint(uint64(status), 10)))
	// Every descendant becomes a child sooner or later, so that none is left when there are no children. What may not be killed, as a program
	// of another user, is left after a while.
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(time.Millisecond) {
		killDescendants()
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				return
			}
			if pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
}

// letGo closes the standard streams, which are the command's: its input and output end when it ends them.
func letGo() {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = syscall.Dup3(null, fd, 0)
	}
	_ = syscall.Close(null)
}

func killDescendants() {
	for _, p := range descendants() {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// relative is a process that descends from this one.
type relative struct {
	pid, parent int
	bytes       int64 // resident memory
}

// descendants returns the processes that descend from this one.
func descendants() (out []relative) {
	children := map[int][]relative{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		// The name, in parentheses, may hold anything. After it come the state, the parent, and as the 22nd field the resident pages.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 22 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		children[parent] = append(children[parent], relative{pid, parent, pages * int64(os.Getpagesize())})
	}
	for roots := []int{os.Getpid()}; len(roots) > 0; roots = roots[1:] {
		next := children[roots[0]]
		delete(children, roots[0]) // a number that is used again while we look makes no circle
		for _, p := range next {
			out, roots = append(out, p), append(roots, p.pid)
		}
	}
	return out
}

// supervised is how many supervisors run.
var supervised atomic.Int64

// Memory returns the resident memory of all programs and of what they started, in bytes, without their supervisors, which are the children of this process. Memory that
// several of them share is counted for each.
func Memory() (sum int64) {
	if supervised.Load() == 0 {
		return 0
	}
	for _, p := range descendants() {
		if p.parent != os.Getpid() {
			sum += p.bytes
		}
	}
	return sum
}

// Guard holds on to a command and all that it starts.
type Guard struct {
	Cmd      *exec.Cmd
	lifeline *os.File // nil where there is no supervisor
	status   *os.File
	theirs   []*os.File // the supervisor's ends
}

// Command returns a command for the shell that can be ended with all that it starts. Before Enable, and without /proc, there is no supervisor, and
// what leaves the process group escapes.
func Command(command string) (*Guard, error) {
	shell, err := exec.LookPath("sh") // here, since the environment may not reach the supervisor
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat("/proc/self/exe"); err != nil || !enabled {
		cmd := exec.Command(shell, "-c", command)
		ownGroup(cmd)
		return &Guard{Cmd: cmd}, nil
	}
	lifeline, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	status, report, err := os.Pipe()
	if err != nil {
		_, _ = lifeline.Close(), ours.Close()
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{supervisorName, shell, command}
	cmd.ExtraFiles = []*os.File{lifeline, report} // which become descriptors 3 and 4
	ownGroup(cmd)
	return &Guard{Cmd: cmd, lifeline: ours, status: status, theirs: cmd.ExtraFiles}, nil
}

// Start starts the command.
func (g *Guard) Start() error {
	err := g.Cmd.Start()
	for _, f := range g.theirs {
		_ = f.Close()
	}
	if err != nil {
		g.release()
	} else if g.lifeline != nil {
		supervised.Add(1)
	}
	return err
}

// Wait returns when the program has ended, with what it started where there is a supervisor. The error says how it ended, nil for status 0.
func (g *Guard) Wait() error {
	state, _ := g.Cmd.Process.Wait()
	if g.lifeline == nil {
		g.Kill() // what it left behind; its number is not in use again yet
		return endedAs(state)
	}
	supervised.Add(-1)
	text, _ := io.ReadAll(g.status)
	g.release()
	number, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil {
		return endedAs(state) // the supervisor was killed
	}
	status := syscall.WaitStatus(number)
	switch {
	case status.Signaled():
		return &Status{"signal: " + status.Signal().String() + dumped(status), -1}
	case status.ExitStatus() != 0:
		return &Status{fmt.Sprintf("exit status %d", status.ExitStatus()), status.ExitStatus()}
	}
	return nil
}

func dumped(status syscall.WaitStatus) string {
	if status.CoreDump() {
		return " (core dumped)"
	}
	return ""
}

// Kill ends the program and all that it started. It must not be called after Wait has returned.
func (g *Guard) Kill() {
	if g.lifeline == nil {
		killGroup(g.Cmd)
		return
	}
	_ = g.lifeline.Close()
	time.AfterFunc(2*patience, func() { _ = g.Cmd.Process.Kill() }) // a supervisor that somebody has stopped
}

func (g *Guard) release() {
	if g.lifeline != nil {
		_, _ = g.lifeline.Close(), g.status.Close()
	}
}
