//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Descriptors of a program and of the stages before it.
const (
	jobDescriptor     = 3 // the job, for the driver
	verdictDescriptor = 4 // the verdict, from the driver
	planDescriptor    = 5 // the plans of the stages
	binaryDescriptor  = 6 // this program's executable, for bubblewrap
)

// stageWord is the only argument of a process of this program that is a stage of a sandbox.
const stageWord = "aiperf-sandbox-stage"

// stageFailed is the exit status of a stage that failed.
const stageFailed = 97

// limit is a resource limit with its soft and hard bound.
type limit struct {
	Resource int
	Value    uint64
}

// stagePlan describes what a stage does before it executes another program.
type stagePlan struct {
	Root        []share // files of a new root directory
	NewRoot     bool
	Limits      []limit
	User        int  // user and group to switch to; 0 = the present one
	Confine     bool // give up all privileges and filter system calls
	CloseFrom   uint // first descriptor to close
	Args        []string
	Environment []string
}

// init turns a process that was started as a stage into its program. It runs before main, so that tests and commands can both be stages.
func init() {
	if len(os.Args) == 2 && os.Args[1] == stageWord {
		runtime.LockOSThread()
		fmt.Fprintln(os.Stderr, "sandbox:", runStage())
		os.Exit(stageFailed)
	}
}

// runStage follows the plan that it reads from its descriptor. It returns only on failure.
func runStage() error {
	plan, err := readPlan()
	if err != nil {
		return fmt.Errorf("no plan: %w", err)
	}
	if plan.NewRoot {
		if err := enterRoot(plan.Root); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("cannot end with aiperf: %w", err)
	}
	closeFrom(plan.CloseFrom) // while the machine's descriptor limit still applies
	if plan.Confine {
		if err := plan.confine(); err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot start %s: %w", plan.Args[0], unix.Exec(plan.Args[0], plan.Args, plan.Environment))
}

// readPlan reads one plan and nothing after it.
func readPlan() (plan stagePlan, err error) {
	f := os.NewFile(planDescriptor, "plan")
	var size [4]byte
	if _, err := io.ReadFull(f, size[:]); err != nil {
		return plan, err
	}
	text := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(f, text); err != nil {
		return plan, err
	}
	runtime.KeepAlive(f) // the next stage reads from the same descriptor
	return plan, json.Unmarshal(text, &plan)
}

// encodePlans encodes plans in the format that stages read, one after another.
func encodePlans(plans []stagePlan) ([]byte, error) {
	var all []byte
	for _, p := range plans {
		text, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		all = append(binary.BigEndian.AppendUint32(all, uint32(len(text))), text...)
	}
	return all, nil
}

// confine gives up every privilege that the program must not have, and sets its limits.
func (p stagePlan) confine() error {
	if err := dropBoundingSet(); err != nil {
		return err
	}
	if err := becomeUser(p.User); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	for _, l := range p.Limits {
		if err := lowerLimit(l); err != nil {
			return err
		}
	}
	return filterCalls()
}

// lowerLimit sets a limit, or the present hard limit if that is lower.
func lowerLimit(l limit) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &now); err != nil {
		return fmt.Errorf("cannot read limit %d: %w", l.Resource, err)
	}
	value := min(l.Value, now.Max)
	if err := unix.Prlimit(0, l.Resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
		return fmt.Errorf("cannot set limit %d: %w", l.Resource, err)
	}
	return nil
}

// dropBoundingSet prevents every later program from getting capabilities. In bubblewrap's sandbox the set is already empty.
func dropBoundingSet() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP+8; c++ { // newer kernels have more capabilities
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			return nil //nolint:nilerr // the last one was the one before
		}
		if has == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("cannot give up capability %d: %w", c, err)
		}
	}
	return nil
}

// becomeUser switches to a user and group. It affects only this thread, which becomes the program.
func becomeUser(id int) error {
	if id == 0 {
		return nil
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("cannot leave the groups: %w", errno)
	}
	for fd := range 3 {
		if err := ownPipe(fd, id); err != nil {
			return err
		}
	}
	for _, call := range []uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
		if _, _, errno := unix.RawSyscall(call, uintptr(id), uintptr(id), uintptr(id)); errno != 0 {
			return fmt.Errorf("cannot become user %d: %w", id, errno)
		}
	}
	return nil
}

// ownPipe makes a user the owner of a pipe, so that the user may open it by name (/dev/stdin).
func ownPipe(fd, user int) error {
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFIFO {
		return nil //nolint:nilerr // nothing to open again
	}
	if err := unix.Fchown(fd, user, user); err != nil {
		return fmt.Errorf("cannot give pipe %d to user %d: %w", fd, user, err)
	}
	return nil
}

// dropCapabilities gives up all capabilities of this thread.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot give up ambient capabilities: %w", err)
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("cannot give up capabilities: %w", err)
	}
	return nil
}

// closeFrom closes descriptors from first on when the next program starts, including inherited ones.
func closeFrom(first uint) {
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	var limit unix.Rlimit // kernels before 5.11
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		limit.Max = maxDescriptors
	}
	for fd := int(first); fd < int(min(limit.Max, maxDescriptors)); fd++ {
		unix.CloseOnExec(fd) // most are not open
	}
}

// maxDescriptors is the default maximum number of descriptors of a Linux process.
const maxDescriptors = 1 << 20
