package endpoint

import (
	"strings"

	"aiperf/internal/text/jinja"
	"aiperf/internal/workload/conversation"
)

// kindNames are the names of the kinds of parts in templates.
var kindNames = map[conversation.Kind]string{conversation.Text: "text", conversation.Image: "image", conversation.Audio: "audio", conversation.Video: "video"}

// vars returns the variables of a template.
func (c *templateCodec) vars(t *conversation.Turn, h *History) (map[string]jinja.Value, error) {
	turn, err := c.turn(t)
	if err != nil {
		return nil, err
	}
	vars := map[string]jinja.Value{"model": c.set.model(t), "stream": c.set.Streaming, "turn": turn}
	for _, name := range []string{"max_tokens", "role"} {
		vars[name], _ = turn.Get(name)
	}
	for kind, name := range kindNames {
		all, named, err := contents(t, kind)
		if err != nil {
			return nil, err
		}
		vars[name+"s"], vars[name+"s_by_name"], vars[name] = &jinja.List{Items: all}, named, firstOf(all)
	}
	named := vars["texts_by_name"].(*jinja.Dict)
	for _, n := range [][3]string{{"query", "queries", "query"}, {"passage", "passages", "passages"}} {
		list, ok := named.Get(n[2])
		if !ok {
			if list, ok = named.Get(n[0]); !ok {
				list = &jinja.List{}
			}
		}
		vars[n[1]], vars[n[0]] = list, firstOf(list.(*jinja.List).Items)
	}
	turns := &jinja.List{}
	for i := range h.Past {
		one, err := c.turn(h.Past[i].Turn)
		if err != nil {
			return nil, err
		}
		turns.Items = append(turns.Items, one)
	}
	turns.Items = append(turns.Items, turn)
	vars["turns"] = turns
	vars["request_info"] = dict("turns", turns, "turn_index", int64(len(h.Past)), "x_request_id", h.RequestID,
		"system_message", orNone(h.System), "user_context_message", orNone(h.UserContext))
	return vars, nil
}

// turn returns a turn as an object.
func (c *templateCodec) turn(t *conversation.Turn) (*jinja.Dict, error) {
	d := dict("model", c.set.model(t), "role", orNone(t.Role), "max_tokens", nil, "timestamp", nil, "delay", nil)
	if t.MaxTokens != nil {
		d.Set("max_tokens", int64(*t.MaxTokens))
	}
	if t.Timestamp != nil {
		d.Set("timestamp", *t.Timestamp)
	}
	if t.Delay != nil {
		d.Set("delay", *t.Delay)
	}
	for kind, name := range kindNames {
		_, named, err := contents(t, kind)
		if err != nil {
			return nil, err
		}
		list := &jinja.List{}
		for _, n := range named.Keys() {
			values, _ := named.Get(n)
			list.Items = append(list.Items, dict("name", n, "contents", values))
		}
		d.Set(name+"s", list)
	}
	return d, nil
}

// contents returns the parts of a kind that have content: all of them in one list, and grouped by the names of their source lists.
func contents(t *conversation.Turn, kind conversation.Kind) (all []jinja.Value, named *jinja.Dict, err error) {
	all, named = []jinja.Value{}, jinja.NewDict()
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Kind != kind {
			continue
		}
		value := p.Text
		if kind != conversation.Text {
			if value, err = mediaString(t, p); err != nil {
				return nil, nil, err
			}
		}
		if value == "" {
			continue
		}
		all = append(all, value)
		list, ok := named.Get(p.Name)
		if !ok {
			list = &jinja.List{}
			named.Set(p.Name, list)
		}
		l := list.(*jinja.List)
		l.Items = append(l.Items, value)
	}
	return all, named, nil
}

// mediaString returns media as one text: an address, a data URL, or FORMAT,BASE64 for a clip that was given in this form.
func mediaString(t *conversation.Turn, p *conversation.Part) (string, error) {
	m := p.Blob
	if m == nil {
		return "", nil
	}
	if a := m.Address(); a != "" {
		return a, nil
	}
	content, err := m.Base64()
	if err != nil {
		return "", invalid(t, "%v", err)
	}
	if p.Kind == conversation.Audio {
		return strings.TrimPrefix(m.MediaType(), "audio/") + "," + string(content), nil
	}
	return "data:" + m.MediaType() + ";base64," + string(content), nil
}

func firstOf(list []jinja.Value) jinja.Value {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func orNone(s string) jinja.Value {
	if s == "" {
		return nil
	}
	return s
}

// dict makes a dict from alternating keys and values.
func dict(pairs ...jinja.Value) *jinja.Dict {
	d := jinja.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}
