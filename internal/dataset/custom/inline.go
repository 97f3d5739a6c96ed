package custom

import (
	"hash/maphash"
	"net/http"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/infile"
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

// fetchedAtOnce is how many addresses are fetched together.
const fetchedAtOnce = 256

// downloads are the images that were fetched, where content is kept. In memory is where each stands.
type downloads struct {
	kept  infile.Kept
	at    map[[2]uint64]download // by two hashes of the address
	seeds [2]maphash.Seed
	names map[string]string // of their types, each once
}

// download is where an image is kept.
type download struct {
	offset, size int64
	media        string
}

func newDownloads() *downloads {
	return &downloads{kept: infile.Kept{Name: "the fetched images"}, at: map[[2]uint64]download{}, names: map[string]string{},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (d *downloads) key(address string) [2]uint64 {
	return [2]uint64{maphash.String(d.seeds[0], address), maphash.String(d.seeds[1], address)}
}

// put keeps an image.
func (d *downloads) put(address, media string, content []byte) error {
	if _, known := d.names[media]; !known {
		d.names[media] = media
	}
	d.at[d.key(address)] = download{d.kept.Size(), int64(len(content)), d.names[media]}
	_, err := d.kept.Write(content)
	return err
}

// fill makes a blob, whose address was fetched, its content. false = it was not.
func (d *downloads) fill(b *conversation.Blob, store *conversation.Store) bool {
	at, known := d.at[d.key(b.Address())]
	if known {
		b.Fill(at.media, store, at.size, func() ([]byte, error) {
			content := make([]byte, at.size)
			_, err := d.kept.ReadAt(content, at.offset)
			return content, err
		})
	}
	return known
}

// inline fetches what the rows so far name by its address, so that requests hold content (Options.Fetch). Unless it is the last time, it waits until
// there are enough.
func (l *loader) inline(last bool) error {
	list := l.media.remote
	if l.Fetch == nil || len(list) == 0 || l.faults.Count() > 0 {
		l.media.remote = nil
		return nil
	}
	if !last && len(list) < fetchedAtOnce {
		return nil
	}
	l.media.remote = nil
	if l.media.fetched == nil {
		l.media.fetched = newDownloads()
	}
	for len(list) > 0 && l.faults.Count() == 0 {
		n := min(len(list), fetchedAtOnce)
		if err := l.fetch(list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// fetch fetches images, each once.
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
			wrong[i] = "is no image: " + got.Media
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
