package custom

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestFetched checks that images given as URLs are downloaded once each and stored outside of memory, whether rows stay in their file or not. Requests
// contain their content. Download errors are reported in file order.
func TestFetched(t *testing.T) {
	const rowCount, images, size = 700, 500, 1 << 16
	var lines strings.Builder
	for i := range rowCount {
		fmt.Fprintf(&lines, `{"text":"%d","images":["http://h/%d","data:image/png;base64,AAAA"]}`+"\n", i, i%images)
	}
	picture := func(address string) []byte {
		return append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte(address), size/len(address))...)
	}
	asked := map[string]int{}
	fetch := func(addresses []string, got func(int, Download)) {
		for i := range addresses {
			last := len(addresses) - 1 - i // any order
			asked[addresses[last]]++
			got(last, Download{Content: picture(addresses[last])})
		}
	}
	for _, format := range []string{"single_turn", "random_pool"} {
		for _, left := range []bool{false, true} {
			if left {
				leave(t)
			}
			o := base(format)
			o.Fetch, o.Early, o.Entries = fetch, true, rowCount
			clear(asked)
			path := write(t, lines.String())
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s, err := Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int(after.HeapAlloc) - int(before.HeapAlloc); left && kept > images*size/4 {
				t.Errorf("%s: %d bytes in memory of %d images", format, kept, images)
			}
			if len(asked) != images || s.Len() != rowCount {
				t.Errorf("%s: %d addresses were asked for, %d rows", format, len(asked), s.Len())
			}
			for _, n := range asked {
				if n != 1 {
					t.Fatalf("%s: an address was asked for %d times", format, n)
				}
			}
			for i := 0; i < rowCount; i += 50 {
				parts := s.Conversation(i).Turns[0].Parts
				var row int
				fmt.Sscan(parts[0].Text, &row)
				content, err := parts[1].Blob.Bytes()
				if want := picture(fmt.Sprint("http://h/", row%images)); err != nil || !bytes.Equal(content, want) || parts[1].Blob.MediaType() != "image/png" || parts[1].Blob.Address() != "" {
					t.Errorf("%s, row %d: %.40q %v", format, row, content, err)
				}
			}
		}
	}
	o := base("single_turn")
	o.Fetch = func(addresses []string, got func(int, Download)) {
		for i := range addresses {
			switch i {
			case 1:
				got(i, Download{Err: errors.New("gone")})
			case 3:
				got(i, Download{Media: "text/html", Content: []byte("<html>")})
			default:
				got(i, Download{Content: picture("x")})
			}
		}
	}
	if text := refusal(t, lines.String(), o); !strings.Contains(text, ":2: http://h/1: gone\n") || !strings.Contains(text, ":4: http://h/3: not an image: text/html") {
		t.Error(text)
	}
}
