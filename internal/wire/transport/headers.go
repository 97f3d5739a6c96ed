package transport

import (
	"strings"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// HeaderSet builds the headers of requests (spec: transport, section 3). It is made once per run; its methods do not change it.
type HeaderSet struct {
	UserAgent         string
	CorrelationHeader string          // "" = X-Correlation-ID
	User              []record.Header // --header, spelled as given
	APIKey            string          // "" = none; sent as a Bearer token unless Auth says otherwise
	Auth              []record.Header // type-specific credentials, sent instead of the Bearer token
	Streaming         bool            // accept streams
	Framing           framing.Format  // of those; nil = server-sent events
	ContentType       string          // "" = application/json

	// Session affinity headers, all carrying the correlation id.
	SessionAffinity bool // X-Session-Affinity
	SessionID       bool // X-Session-ID
	SMGRoutingKey   bool // X-SMG-Routing-Key
	DynamoSession   bool // X-Dynamo-Session-ID and X-Dynamo-Parent-Session-ID
}

// Identity holds the identifiers in the headers of one request.
type Identity struct {
	RequestID, CorrelationID string
	ParentCorrelationID      string // of a child session, "" = none
	ContentType              string // of this request, "" = that of the set (multipart boundaries differ by request)
	Extra                    []record.Header
}

// Build returns the headers of one request in wire order. A later layer replaces an earlier header of the same name; case does not matter.
func (s *HeaderSet) Build(id Identity) []record.Header {
	h := make(headerList, 0, 10+len(s.User)+len(id.Extra))
	h.set("User-Agent", s.UserAgent)
	h.set("X-Request-ID", id.RequestID)
	correlation := s.CorrelationHeader
	if correlation == "" {
		correlation = "X-Correlation-ID"
	}
	h.set(correlation, id.CorrelationID)
	for _, u := range s.User {
		h.set(u.Name, u.Value)
	}
	for _, a := range s.Auth {
		h.set(a.Name, a.Value)
	}
	if s.APIKey != "" && len(s.Auth) == 0 {
		h.set("Authorization", "Bearer "+s.APIKey)
	}
	for _, e := range id.Extra {
		h.set(e.Name, e.Value)
	}
	accept, contentType := "application/json", s.ContentType
	if s.Streaming {
		accept = framing.OrSSE(s.Framing).Media()[0]
	}
	if id.ContentType != "" {
		contentType = id.ContentType
	} else if contentType == "" {
		contentType = "application/json"
	}
	h.replace("Accept", accept)
	h.replace("Content-Type", contentType)
	s.affinity(&h, id)
	return h
}

func (s *HeaderSet) affinity(h *headerList, id Identity) {
	if s.SessionID {
		h.replace("X-Session-ID", id.CorrelationID)
	}
	if s.SessionAffinity {
		h.replace("X-Session-Affinity", id.CorrelationID)
	}
	if s.SMGRoutingKey {
		h.replace("X-SMG-Routing-Key", id.CorrelationID)
	}
	if s.DynamoSession {
		h.replace("X-Dynamo-Session-ID", id.CorrelationID)
		if id.ParentCorrelationID != "" {
			h.replace("X-Dynamo-Parent-Session-ID", id.ParentCorrelationID)
		}
	}
}

// Overridden lists the user's headers that a run replaces, for one warning each: Accept, Content-Type, the affinity headers, and Authorization if an
// API key is given.
func (s *HeaderSet) Overridden() []string {
	built := s.Build(Identity{RequestID: "r", CorrelationID: "c"})
	var names []string
	for _, u := range s.User {
		for _, b := range built {
			if strings.EqualFold(b.Name, u.Name) && b.Value != u.Value {
				names = append(names, u.Name)
			}
		}
		if clientsOwn(u.Name) {
			names = append(names, u.Name)
		}
	}
	return names
}

// clientsOwn reports whether only the client itself writes a header.
func clientsOwn(name string) bool {
	return strings.EqualFold(name, "Host") || strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding")
}

type headerList []record.Header

// set replaces a header of the same name at its position, or appends it.
func (h *headerList) set(name, value string) {
	for i := range *h {
		if strings.EqualFold((*h)[i].Name, name) {
			(*h)[i] = record.Header{Name: name, Value: value}
			return
		}
	}
	*h = append(*h, record.Header{Name: name, Value: value})
}

// replace removes a header of the same name and appends the new one.
func (h *headerList) replace(name, value string) {
	kept := (*h)[:0]
	for _, f := range *h {
		if !strings.EqualFold(f.Name, name) {
			kept = append(kept, f)
		}
	}
	*h = append(kept, record.Header{Name: name, Value: value})
}
