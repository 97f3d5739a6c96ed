package protojson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"aiperf/internal/base/protobuf"
)

// scalars are the fields of a message with every type of field, alone, repeated and as the value of a map.
func scalars() string {
	var b, oneof strings.Builder
	id := 0
	add := func(name, label, kind, more string) {
		id++
		to := &b
		if strings.HasPrefix(more, "oneof_index") { // the fields of a oneof must follow each other
			to = &oneof
		}
		to.WriteString(`field {name: "` + name + `" number: ` + jsonNumber(id) + ` label: LABEL_` + label + ` type: TYPE_` + kind + ` ` + more + `} `)
	}
	var entries strings.Builder
	for _, kind := range strings.Fields("DOUBLE FLOAT INT64 UINT64 INT32 FIXED64 FIXED32 BOOL STRING BYTES UINT32 SFIXED32 SFIXED64 SINT32 SINT64") {
		low := strings.ToLower(kind)
		add("a_"+low, "OPTIONAL", kind, "")
		add("many_"+low, "REPEATED", kind, "")
		add("packed_"+low, "REPEATED", kind, packed(kind))
		add("one_"+low, "OPTIONAL", kind, "oneof_index: 0")
		entry := strings.ToUpper(low[:1]) + low[1:]
		key := kind
		if kind == "DOUBLE" || kind == "FLOAT" || kind == "BYTES" {
			key = "STRING"
		}
		add("map_"+low, "REPEATED", "MESSAGE", `type_name: ".t.All.Map`+entry+`Entry"`)
		entries.WriteString(`nested_type {name: "Map` + entry + `Entry" options {map_entry: true} field {name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_` + key +
			`} field {name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_` + kind + `}} `)
	}
	for _, special := range strings.Fields("Any Timestamp Duration FieldMask Struct ListValue Value Empty BoolValue Int32Value Int64Value UInt32Value UInt64Value FloatValue DoubleValue StringValue BytesValue") {
		add("a_"+special, "OPTIONAL", "MESSAGE", `type_name: ".google.protobuf.`+special+`"`)
		add("many_"+special, "REPEATED", "MESSAGE", `type_name: ".google.protobuf.`+special+`"`)
	}
	add("a_null", "OPTIONAL", "ENUM", `type_name: ".google.protobuf.NullValue"`)
	add("a_enum", "OPTIONAL", "ENUM", `type_name: ".t.E"`)
	add("many_enum", "REPEATED", "ENUM", `type_name: ".t.E"`)
	add("inner", "OPTIONAL", "MESSAGE", `type_name: ".t.All"`)
	add("inners", "REPEATED", "MESSAGE", `type_name: ".t.All"`)
	add("map_inner", "REPEATED", "MESSAGE", `type_name: ".t.All.MapInnerEntry"`)
	entries.WriteString(`nested_type {name: "MapInnerEntry" options {map_entry: true} field {name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING}
		field {name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".t.All"}} `)
	return b.String() + oneof.String() + entries.String()
}

func packed(kind string) string {
	if kind == "STRING" || kind == "BYTES" {
		return ""
	}
	return "options {packed: true}"
}

func jsonNumber(n int) string { b, _ := json.Marshal(n); return string(b) }

// syntaxes are the kinds of files, with what only they allow.
var syntaxes = map[string]string{
	"proto3": `syntax: "proto3" message_type {name: "All" oneof_decl {name: "o"} oneof_decl {name: "_x"} ` + scalars() +
		`field {name: "maybe" number: 900 label: LABEL_OPTIONAL type: TYPE_INT32 proto3_optional: true oneof_index: 1}} ` +
		`enum_type {name: "E" value {name: "ZERO" number: 0} value {name: "TWO" number: 2}}`,
	"proto2": `message_type {name: "All" oneof_decl {name: "o"} ` + scalars() +
		`field {name: "group" number: 900 label: LABEL_OPTIONAL type: TYPE_GROUP type_name: ".t.All.Group"} ` +
		`field {name: "groups" number: 901 label: LABEL_REPEATED type: TYPE_GROUP type_name: ".t.All.Groups"} ` +
		`nested_type {name: "Group" field {name: "must" number: 1 label: LABEL_REQUIRED type: TYPE_INT32}} ` +
		`nested_type {name: "Groups" field {name: "x" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32}}} ` +
		`enum_type {name: "E" value {name: "ONE" number: 1} value {name: "TWO" number: 2}}`,
	"edition": `syntax: "editions" edition: EDITION_2023 options {features {utf8_validation: NONE}} message_type {name: "All" oneof_decl {name: "o"} ` + scalars() +
		`field {name: "implicit" number: 900 label: LABEL_OPTIONAL type: TYPE_INT32 options {features {field_presence: IMPLICIT}}} ` +
		`field {name: "must" number: 901 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".t.Must"} ` +
		`field {name: "expanded" number: 902 label: LABEL_REPEATED type: TYPE_INT32 options {features {repeated_field_encoding: EXPANDED}}} ` +
		`field {name: "delimited" number: 903 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".t.All" options {features {message_encoding: DELIMITED}}} ` +
		`field {name: "checked" number: 904 label: LABEL_OPTIONAL type: TYPE_STRING options {features {utf8_validation: VERIFY}}}} ` +
		`message_type {name: "Must" field {name: "x" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 options {features {field_presence: LEGACY_REQUIRED}}}} ` +
		`enum_type {name: "E" value {name: "ZERO" number: 0} value {name: "TWO" number: 2}}`,
}

// described returns a type as this package and the reference library see it.
func described(t testing.TB, syntax string) (*Type, protoreflect.MessageDescriptor) {
	t.Helper()
	set := new(descriptorpb.FileDescriptorSet)
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("t.proto"), Package: proto.String("t")}
	known := []protoreflect.FileDescriptor{anypb.File_google_protobuf_any_proto, durationpb.File_google_protobuf_duration_proto, emptypb.File_google_protobuf_empty_proto,
		fieldmaskpb.File_google_protobuf_field_mask_proto, structpb.File_google_protobuf_struct_proto, timestamppb.File_google_protobuf_timestamp_proto, wrapperspb.File_google_protobuf_wrappers_proto}
	if err := prototext.Unmarshal([]byte(syntaxes[syntax]), file); err != nil {
		t.Fatal(err)
	}
	file.Name, file.Package = proto.String("t.proto"), proto.String("t")
	for _, f := range known {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
		file.Dependency = append(file.Dependency, f.Path())
	}
	set.File = append(set.File, file)
	reference, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	d, err := reference.FindDescriptorByName("t.All")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	files, err := ParseFiles(raw)
	if err != nil {
		t.Fatal(err)
	}
	return files.messages["t.All"], d.(protoreflect.MessageDescriptor)
}

// texts are the seeds: what both accept and what both reject.
var texts = []string{
	`{}`, `{"aDouble":1.5,"a_float":-0.1,"aInt64":"-5","aUint64":18446744073709551615,"aInt32":1e2,"aFixed64":"7","aFixed32":7,"aBool":true,"aString":"é\n\u0001\"","aBytes":"-_8="}`,
	`{"aDouble":"NaN","aFloat":"-Infinity","manyDouble":["Infinity",1e300,-0.0,1e21,1e-7,123456789],"aFloat":1}`, `{"aFloat":1e-7,"manyFloat":[1e21,3.4e38,1e-45,0.000001]}`,
	`{"aSint32":-1,"aSint64":"-9223372036854775808","aSfixed32":-2,"aSfixed64":-3,"aUint32":4294967295}`, `{"manyInt32":[1,2,3],"packedInt32":[1,-1],"packedSint64":[-1],"packedBool":[true,false],"manyFixed32":[1]}`,
	`{"mapInt32":{"-1":2,"1":0},"mapBool":{"true":false,"false":true},"mapString":{"b":"x","a":""},"mapInner":{"k":{"aBool":true},"":{}},"mapDouble":{"x":0}}`, `{"oneInt32":0}`, `{"oneInt32":1,"oneBool":false}`,
	`{"aTimestamp":"2026-01-31T12:00:00.5+01:00","manyTimestamp":["1969-12-31T23:59:59.000000001Z","0001-01-01T00:00:00Z"]}`, `{"aDuration":"-1.5s","manyDuration":["0s","1.000000001s","315576000000s","+.5s"]}`,
	`{"aFieldMask":"a.bC,d","manyFieldMask":["",  "x"]}`, `{"aStruct":{"a":[1,null,"x",{"b":true}]},"aListValue":[1,[]],"aValue":null,"manyValue":[null,1,"s",[],{}]}`, `{"aNull":null}`, `{"aEmpty":{}}`,
	`{"aBoolValue":false,"aInt32Value":0,"aInt64Value":"7","aUInt32Value":1,"aUInt64Value":"2","aFloatValue":0.5,"aDoubleValue":"NaN","aStringValue":"","aBytesValue":""}`,
	`{"aEnum":"TWO","manyEnum":["TWO",2,77,0]}`, `{"inner":{"inner":{"aInt32":1}},"inners":[{},{"aBool":true}]}`, `{"maybe":0}`, `{"implicit":0,"expanded":[1,2],"delimited":{"aInt32":1},"checked":"x"}`, `{"must":{"x":0}}`, `{"must":{}}`,
	`{"Group":{"must":1},"groups":[{"x":1},{}]}`, `{"group":{"must":1}}`, `{"Group":{}}`, `{"aAny":{"@type":"a/google.protobuf.Duration","value":"1s"},"manyAny":[{},{"@type":"google.protobuf.Empty"},{"@type":"x/google.protobuf.Empty","value":{}}]}`,
	`{"unknown":1}`, `{"aInt32":1.5}`, `{"aInt32":2147483648}`, `{"aInt32":"1 "}`, `{"aInt32":"x"}`, `{"aUint32":-1}`, `{"aBool":"true"}`, `{"aString":1}`, `{"aBytes":"%"}`, `{"aInt32":1,"aInt32":2}`, `{"aEnum":"NONE"}`, `{"inner":1}`,
	`{"inners":{}}`, `{"inners":[null]}`, `{"mapInt32":{"x":1}}`, `{"mapInt32":{"1":null}}`, `{"aTimestamp":"yesterday"}`, `{"aDuration":"1"}`, `{"aDuration":"s"}`, `{"aFieldMask":"a_b"}`, `{"aAny":{"value":1}}`, `[]`, `null`, `1`, `{`, `{} x`, ``,
	`{"aInt32":null,"inners":null,"mapBool":null}`, `{"aDouble":1e999}`, `{"aInt64":1e18,"aInt32":10e-1}`, `{"aInt32":0e99999999999}`, `{"manyInt32":[]}`, `{"aFloat":3.5e38}`, `{"aValue":[1e400]}`,
}

// compareText converts a text both ways and compares with the reference library.
func compareText(t *testing.T, ours *Type, theirs protoreflect.MessageDescriptor, text string) {
	t.Helper()
	got, err := ours.Marshal([]byte(text))
	if !json.Valid([]byte(text)) { // the reference library accepts some of it, for example 0e
		if err == nil {
			t.Fatalf("%s: accepted", text)
		}
		return
	}
	m := dynamicpb.NewMessage(theirs)
	reference := protojson.Unmarshal([]byte(text), m)
	if err == nil && reference != nil && strings.Contains(text, `\u`) {
		return // half a surrogate pair is an error there; here it is the replacement character, as in encoding/json
	}
	if (err != nil) != (reference != nil) {
		t.Fatalf("%s: error %v, the reference library's %v", text, err, reference)
	}
	if err != nil {
		return
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s:\n% x\nwant\n% x", text, got, want)
	}
	compareBytes(t, ours, theirs, want)
}

// compareBytes converts a message to JSON and compares with the reference library.
func compareBytes(t *testing.T, ours *Type, theirs protoreflect.MessageDescriptor, encoded []byte) {
	t.Helper()
	got, err := ours.Text(encoded)
	m := dynamicpb.NewMessage(theirs)
	panics, reference := unmarshal(encoded, m)
	if panics {
		return
	}
	var want []byte
	if reference == nil {
		want, reference = protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	}
	if (err != nil) != (reference != nil) {
		t.Fatalf("% x: error %v (%s), the reference library's %v (%s)", encoded, err, got, reference, want)
	}
	if err != nil {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, compact.Bytes()) {
		t.Fatalf("% x:\n%s\nwant\n%s", encoded, got, compact.Bytes())
	}
}

// unmarshal parses with the reference library, which panics (protobuf-go 1.36) if the key of an entry has another wire type.
func unmarshal(encoded []byte, m proto.Message) (panics bool, err error) {
	defer func() {
		if recover() != nil {
			panics = true
		}
	}()
	return false, proto.Unmarshal(encoded, m)
}

// TestKeyOfAnotherWireType: a key of another wire type is ignored, as any such field is.
func TestKeyOfAnotherWireType(t *testing.T) {
	for syntax := range syntaxes {
		ours, _ := described(t, syntax)
		id := ours.field("map_string").id
		entry := protobuf.Message(nil)
		entry.Varint(1, 7)
		entry.String(2, "x")
		whole := protobuf.Message(nil)
		whole.Bytes(id, entry)
		if text, err := ours.Text(whole); err != nil || string(text) != `{"map_string":{"":"x"}}` {
			t.Errorf("%s: %s %v", syntax, text, err)
		}
	}
}

// TestDescriptorsThatAreWrong: descriptors that contradict themselves are errors.
func TestDescriptorsThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		`message_type {name: "A" field {name: "x" number: 1 type: TYPE_MESSAGE type_name: ".t.B"}}`:                                                         "field A.x has the type t.B, which is not described",
		`message_type {name: "A"} message_type {name: "A"}`:                                                                                                 "A is described twice",
		`message_type {name: "A" field {name: "x" type: TYPE_BOOL}}`:                                                                                        "field x has the number 0",
		`message_type {name: "A" options {map_entry: true}}`:                                                                                                "without a key and a value",
		`package: "google.protobuf" message_type {name: "Any"}`:                                                                                             "does not have the fields",
		`package: "google.protobuf" message_type {name: "ListValue" field {name: "x" number: 1 type: TYPE_MESSAGE type_name: "google.protobuf.ListValue"}}`: "does not have the fields",
		`service {name: "S" method {name: "M" input_type: ".A" output_type: ".B"}}`:                                                                         "method S.M takes A and returns B",
		`enum_type {name: "E"} enum_type {name: "E"}`:                                                                                                       "E is described twice",
	} {
		file := new(descriptorpb.FileDescriptorProto)
		if err := prototext.Unmarshal([]byte(text), file); err != nil {
			t.Fatal(err)
		}
		raw, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{file}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseFiles(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	deep := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for range 1000 {
		deep = &descriptorpb.DescriptorProto{Name: proto.String("M"), NestedType: []*descriptorpb.DescriptorProto{deep}}
	}
	raw, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{MessageType: []*descriptorpb.DescriptorProto{deep}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseFiles(raw); err == nil || !strings.Contains(err.Error(), "within each other") {
		t.Errorf("1000 levels: %v", err)
	}
	for _, raw := range []string{"x", "\x0a\x01\xff", "\x12\x00"} {
		if _, err := ParseFiles([]byte(raw)); err == nil {
			t.Errorf("%q was accepted", raw)
		}
	}
}

// TestLikeTheReferenceLibrary: every text gives the same bytes or is rejected by both, in every syntax, and comes back the same.
func TestLikeTheReferenceLibrary(t *testing.T) {
	for syntax := range syntaxes {
		ours, theirs := described(t, syntax)
		for _, text := range texts {
			compareText(t, ours, theirs, text)
		}
	}
}

// FuzzText: any text.
func FuzzText(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	types, references := allSyntaxes(f)
	f.Fuzz(func(t *testing.T, text string) {
		for i := range types {
			compareText(t, types[i], references[i], text)
		}
	})
}

// FuzzBytes: any message.
func FuzzBytes(f *testing.F) {
	types, references := allSyntaxes(f)
	for _, text := range texts {
		for _, one := range types {
			if b, err := one.Marshal([]byte(text)); err == nil {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for i := range types {
			compareBytes(t, types[i], references[i], b)
		}
	})
}

func allSyntaxes(t testing.TB) (types []*Type, references []protoreflect.MessageDescriptor) {
	for _, syntax := range []string{"proto2", "proto3", "edition"} {
		ours, theirs := described(t, syntax)
		types, references = append(types, ours), append(references, theirs)
	}
	return types, references
}
