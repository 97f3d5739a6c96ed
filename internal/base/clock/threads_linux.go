package clock

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scanEvery is the number of readings between two scans for new threads.
const scanEvery = 50

// threadWaits measures how long each thread of the process was runnable without a CPU: the second number of /proc/self/task/*/schedstat, ns. The
// kernel counts a wait when it ends.
type threadWaits struct {
	files map[int]*threadFile
	reads int
}

type threadFile struct {
	fd   int
	last int64
}

// waitedSince returns how long the thread waited since the last call, ns; ok is false if the thread has ended. The system call is a raw one because it
// cannot block (see gridTimer).
func (f *threadFile) waitedSince() (d int64, ok bool) {
	var buf [64]byte
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f.fd), uintptr(unsafe.Pointer(&buf)), uintptr(len(buf)), 0, 0, 0)
	if errno != 0 || n == 0 {
		return 0, false
	}
	wait := secondNumber(buf[:n])
	d = wait - f.last
	f.last = wait
	return d, true
}

// read returns how long threads waited since the previous reading.
func (w *threadWaits) read() (s waits) {
	first := w.files == nil
	if w.reads%scanEvery == 0 {
		w.scan()
	}
	w.reads++
	for id, f := range w.files {
		d, ok := f.waitedSince()
		if !ok {
			unix.Close(f.fd)
			delete(w.files, id)
		}
		s.all += d
		s.second = max(s.second, min(s.longest, d))
		s.longest = max(s.longest, d)
	}
	if first { // waits before the first reading do not count
		return waits{}
	}
	return s
}

// threadIDs returns the ids of the process's threads; none where the system does not report them.
func threadIDs() (ids []int) {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// scan opens the files of new threads.
func (w *threadWaits) scan() {
	if w.files == nil {
		w.files = map[int]*threadFile{}
	}
	for _, id := range threadIDs() {
		if w.files[id] != nil {
			continue
		}
		if fd, err := unix.Open("/proc/self/task/"+strconv.Itoa(id)+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			w.files[id] = &threadFile{fd: fd}
		}
	}
}

// close closes the files.
func (w *threadWaits) close() {
	for _, f := range w.files {
		unix.Close(f.fd)
	}
	w.files = map[int]*threadFile{}
}

// secondNumber returns the second decimal number of a line.
func secondNumber(line []byte) (n int64) {
	field := 0
	for _, c := range line {
		switch {
		case c < '0' || c > '9':
			field++
			if field == 2 {
				return n
			}
		case field == 1:
			n = n*10 + int64(c-'0')
		}
	}
	return n
}
