//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group is the set of all processes of a program: the first one and its descendants.
type group struct {
	first  int // process id
	bounds bounds
	kernel *controlGroup // nil = the kernel does not limit the group as a whole
}

// ownThreads is the maximum number of threads in a group that belong to the sandbox itself: a stage, bubblewrap.
const ownThreads = 32

func newGroup(first int, b bounds) *group {
	return &group{first: first, bounds: b, kernel: newControlGroup(first, b)}
}

func (g *group) close() { g.kernel.remove() }

// watchInterval is the time between two checks of a group. A process can fill some 100 MB in this time.
const watchInterval = 20 * time.Millisecond

// watch checks the group until the returned function is called, and kills it if it exceeds a limit. The function returns the exceeded limit.
func (g *group) watch(kill func()) (stop func() string) {
	done, excess := make(chan struct{}), make(chan string, 1)
	go func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			if why := g.excess(); why != "" {
				kill()
				excess <- why
				return
			}
			select {
			case <-done:
				excess <- ""
				return
			case <-tick.C:
			}
		}
	}()
	return func() string {
		close(done)
		if why := <-excess; why != "" || !g.kernel.killed() {
			return why
		}
		return g.bounds.memoryFault()
	}
}

func (b bounds) memoryFault() string {
	return fmt.Sprintf("the program used more than %d MiB of memory", b.memory>>20)
}

// excess returns the limit that the group exceeded; "" = none.
func (g *group) excess() string {
	members, threads := g.members()
	if threads > g.bounds.processes+ownThreads { // the kernel's limit does not apply to root
		return fmt.Sprintf("the program started more than %d processes and threads", g.bounds.processes)
	}
	if sum(members, residentMemory) > g.bounds.memory && sum(members, proportionalMemory) > g.bounds.memory {
		return g.bounds.memoryFault()
	}
	if files(members[len(members)-1]) > diskFiles {
		return fmt.Sprintf("the program created more than %d files", diskFiles)
	}
	return ""
}

// files counts the files in the memory file systems that a process sees, because bubblewrap does not limit them.
func files(pid int) (most uint64) {
	for _, dir := range volatile {
		var s unix.Statfs_t
		err := unix.Statfs(fmt.Sprintf("/proc/%d/root%s", pid, dir), &s)
		if err == nil && s.Type == unix.TMPFS_MAGIC && s.Blocks*uint64(s.Bsize) == diskSize { // not the tmpfs of the machine
			most = max(most, s.Files-s.Ffree)
		}
	}
	return most
}

func sum(members []int, memory func(pid int) int64) (total int64) {
	for _, pid := range members {
		total += memory(pid)
	}
	return total
}

// members lists the processes of the group and counts their threads. Orphans belong to the group, because they become children of the namespace's
// first process.
func (g *group) members() (list []int, threads int) {
	list = []int{g.first}
	for i := 0; i < len(list) && threads <= g.bounds.processes+ownThreads; i++ {
		more, n := children(list[i])
		list, threads = append(list, more...), threads+n
	}
	return list, threads
}

// children lists the children of all threads of a process, and counts the threads.
func children(pid int) (list []int, threads int) {
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return nil, 0 // the process has ended
	}
	for _, t := range entries {
		text, err := os.ReadFile(tasks + "/" + t.Name() + "/children")
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list, len(entries)
}

// residentMemory returns the memory of a process in bytes. Shared pages count for each process.
func residentMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0 // the process has ended
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// proportionalMemory returns the memory of a process in bytes, with its share of shared pages. If the kernel does not report that, it returns the
// resident memory.
func proportionalMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return residentMemory(pid)
	}
	_, rest, _ := strings.Cut(string(text), "\nPss:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return residentMemory(pid)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return residentMemory(pid)
	}
	return kib << 10
}
