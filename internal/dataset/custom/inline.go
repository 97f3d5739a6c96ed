package custom

import (
	"net/http"
	"strings"

	"aiperf/internal/conversation"
)

// Download is what was found at the address of an image.
type Download struct {
	Media   string // type that the server named, "" = none
	Content []byte
	Err     error
}

// remote is an image that has only an address so far.
type remote struct {
	where string
	blob  *conversation.Blob
}

// inline fetches what the file names by its address, all at once, so that requests hold content (Options.Fetch).
func (l *loader) inline() {
	list := l.media.remote
	if l.Fetch == nil || len(list) == 0 || l.faults.Count() > 0 {
		return
	}
	addresses := make([]string, len(list))
	for i := range list {
		addresses[i] = list[i].blob.Address()
	}
	for i, d := range l.Fetch(addresses) {
		media := imageType(d)
		switch {
		case d.Err != nil:
			l.faults.Add(list[i].where, "", "%s: %v", addresses[i], d.Err)
		case media == "":
			l.faults.Add(list[i].where, "", "%s: is no image: %s", addresses[i], d.Media)
		default:
			list[i].blob.Fill(media, l.media.store, d.Content)
		}
	}
}

// imageType is the media type that the content tells, or the one that its server names; "" = no image.
func imageType(d Download) string {
	if found := http.DetectContentType(d.Content); strings.HasPrefix(found, "image/") {
		return found
	}
	if media := strings.ToLower(strings.TrimSpace(d.Media)); strings.HasPrefix(media, "image/") {
		return media
	}
	return ""
}
