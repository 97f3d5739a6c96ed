package custom

import (
	"hash/maphash"
	"net/http"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/conversation"
)

// Download is the result of downloading an image.
type Download struct {
	Media   string // media type from the server; "" = none
	Content []byte
	Err     error
}

// remote is an image that has only a URL so far.
type remote struct {
	where string
	blob  *conversation.Blob
}

// downloadBatch is the number of URLs that are downloaded together.
const downloadBatch = 256

// downloads stores the downloaded images in a temporary file. Only their offsets are in memory.
type downloads struct {
	contents boundedfile.SpooledBytes
	at       map[[2]uint64]download // by two hashes of the URL
	seeds    [2]maphash.Seed
	names    map[string]string // media types, each stored once
}

// download is the position of an image in the temporary file.
type download struct {
	offset, size int64
	media        string
}

func newDownloads() *downloads {
	return &downloads{contents: boundedfile.SpooledBytes{Name: "the fetched images"}, at: map[[2]uint64]download{}, names: map[string]string{},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (d *downloads) key(address string) [2]uint64 {
	return [2]uint64{maphash.String(d.seeds[0], address), maphash.String(d.seeds[1], address)}
}

// put stores an image.
func (d *downloads) put(address, media string, content []byte) error {
	if _, known := d.names[media]; !known {
		d.names[media] = media
	}
	d.at[d.key(address)] = download{d.contents.Size(), int64(len(content)), d.names[media]}
	_, err := d.contents.Write(content)
	return err
}

// fill sets the content of a blob whose URL was downloaded. It returns false if it was not.
func (d *downloads) fill(b *conversation.Blob, store *conversation.Store) bool {
	at, known := d.at[d.key(b.Address())]
	if known {
		b.Fill(at.media, store, at.size, func() ([]byte, error) {
			content := make([]byte, at.size)
			_, err := d.contents.ReadAt(content, at.offset)
			return content, err
		})
	}
	return known
}

// inline downloads the images that the rows so far give as URLs, so that requests contain the content (Options.Fetch). It waits for a full batch,
// unless last is set.
func (l *loader) inline(last bool) error {
	list := l.media.remote
	if l.Fetch == nil || len(list) == 0 || l.faults.Count() > 0 {
		l.media.remote = nil
		return nil
	}
	if !last && len(list) < downloadBatch {
		return nil
	}
	l.media.remote = nil
	if l.media.fetched == nil {
		l.media.fetched = newDownloads()
	}
	for len(list) > 0 && l.faults.Count() == 0 {
		n := min(len(list), downloadBatch)
		if err := l.fetch(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// fetch downloads images, each URL once.
func (l *loader) fetch(list []remote) (err error) {
	d := l.media.fetched
	var addresses []string
	var places []string
	asked := map[string]bool{}
	for _, r := range list {
		address := r.blob.Address()
		if _, known := d.at[d.key(address)]; !known && !asked[address] {
			asked[address] = true
			addresses, places = append(addresses, address), append(places, r.where)
		}
	}
	wrong := make([]string, len(addresses))
	l.Fetch(addresses, func(i int, got Download) {
		switch media := imageType(got); {
		case got.Err != nil:
			wrong[i] = got.Err.Error()
		case media == "":
			wrong[i] = "not an image: " + got.Media
		case err == nil:
			err = d.put(addresses[i], media, got.Content)
		}
	})
	for i, why := range wrong {
		if why != "" {
			l.faults.Add(places[i], "", "%s: %s", addresses[i], why)
		}
	}
	for _, r := range list {
		d.fill(r.blob, l.media.store)
	}
	return err
}

// imageType returns the media type detected from the content, or the one from the server; "" = not an image.
func imageType(d Download) string {
	if found := http.DetectContentType(d.Content); strings.HasPrefix(found, "image/") {
		return found
	}
	if media := strings.ToLower(strings.TrimSpace(d.Media)); strings.HasPrefix(media, "image/") {
		return media
	}
	return ""
}
