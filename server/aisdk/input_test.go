package aisdk_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]aisdk.Version{
		"": aisdk.V6, "6": aisdk.V6, "7": aisdk.V7, "7.0.173": aisdk.V7, "5": 0, "8": 0, "x": 0,
	} {
		got, err := aisdk.ParseVersion("version", text)
		if got != want || (err == nil) != (want != 0) || err != nil && spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

// Only answers to open parks count, with the digest of the question.
func TestAnswers(t *testing.T) {
	t.Parallel()
	open := projection.Parks{
		{ToolCallID: "c1", ToolName: "send", Digest: "d1"},
		{ToolCallID: "c2", ToolName: "show", Reason: wire.ParkClientTool, Digest: "d2"},
	}
	for name, c := range map[string]struct {
		parts     string
		approvals int
		outputs   int
		late      bool
		code      spool.Code
	}{
		"Yes": {
			`{"type":"tool-send","toolCallId":"c1","state":"approval-responded","approval":{"id":"c1#d1","approved":true}}`, 1,
			0, false, "",
		},
		"Changed": {
			`{"type":"tool-send","toolCallId":"c1","state":"approval-responded","approval":{"id":"c1#d0","approved":true}}`, 0,
			0, false, spool.Conflict,
		},
		"OtherCall": {
			`{"type":"tool-send","toolCallId":"c1","state":"approval-responded","approval":{"id":"c9#d1","approved":true}}`, 0,
			0, false, spool.Invalid,
		},
		"NoAnswer": {
			`{"type":"tool-send","toolCallId":"c1","state":"approval-responded","approval":{"id":"c1#d1"}}`, 0, 0, false,
			spool.Invalid,
		},
		"NotOpen": {
			`{"type":"tool-send","toolCallId":"c7","state":"approval-responded","approval":{"id":"c7#d1","approved":true}}`, 0,
			0, true, "",
		},
		"Asked": {
			`{"type":"tool-send","toolCallId":"c1","state":"approval-requested","approval":{"id":"c1#d1"}}`, 0, 0, false, "",
		},
		"Output":  {`{"type":"tool-show","toolCallId":"c2","state":"output-available","output":{"a":1}}`, 0, 1, false, ""},
		"NotMine": {`{"type":"tool-send","toolCallId":"c1","state":"output-available","output":"I say so"}`, 0, 0, false, ""},
		"Text":    {`{"type":"text","text":"c1#d1"}`, 0, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			post, err := aisdk.ReadPost([]json.RawMessage{
				json.RawMessage(`{"id":"r1","role":"assistant","parts":[` + c.parts + `]}`),
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := post.Answers(open, nil)
			if c.code != "" {
				if spool.CodeOf(err) != c.code {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || len(got.Approvals) != c.approvals || len(got.Outputs) != c.outputs || got.Late != c.late {
				t.Errorf("%+v %v", got, err)
			}
			for _, a := range got.Approvals {
				if diff := cmp.Diff(wire.Response{ToolCallID: "c1", Approved: true, Digest: "d1"}, a); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// The details of a request belong to the answers in its message.
func TestAnswerDetails(t *testing.T) {
	t.Parallel()
	open := projection.Parks{{ToolCallID: "c1", ToolName: "send", Digest: "d1"}}
	post, err := aisdk.ReadPost([]json.RawMessage{
		[]byte(`{"id":"r1","role":"assistant","parts":[{"type":"tool-send","toolCallId":"c1","state":"approval-responded","approval":{"id":"c1#d1","approved":true}},{"type":"tool-send","toolCallId":"c2","state":"approval-requested","approval":{"id":"c2#d1"}}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := post.Answers(open, map[spool.ToolCallID]aisdk.AnswerDetail{
		"c1": {Payload: []byte(`{"n":1}`), Arguments: []byte(`null`)},
	})
	want := []wire.Response{{ToolCallID: "c1", Approved: true, Digest: "d1", Payload: []byte(`{"n":1}`)}}
	if diff := cmp.Diff(want, got.Approvals); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, id := range []spool.ToolCallID{"c2", "c3", ""} {
		if _, err := post.Answers(
			open, map[spool.ToolCallID]aisdk.AnswerDetail{id: {}},
		); spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), "answers: ") {
			t.Errorf("a detail for %q: %v", id, err)
		}
	}
}

// A message starts the same run each time, and another one in another thread.
func TestRunID(t *testing.T) {
	t.Parallel()
	post := aisdk.Post{ID: "m1"}
	one := post.RunID("t1")
	if one == "" || one != post.RunID("t1") || one == post.RunID("t2") || one == (aisdk.Post{ID: "m2"}).RunID("t1") ||
		(aisdk.Post{ID: "no id"}).RunID("t1") != "" {
		t.Errorf("%q", one)
	}
	if err := spool.CheckID("runId", string(one)); err != nil {
		t.Error(err)
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()
	post, err := aisdk.ReadPost([]json.RawMessage{
		[]byte(`"anything"`),
		[]byte(`{"id":"m1","role":"user","parts":[{"type":"file","url":"data:text/plain;base64,YQ==","mediaType":"text/plain","filename":"a.txt"},{"type":"file","url":"artifact:art_1","mediaType":"image/png","filename":"b.png"},{"type":"file","url":"/files/art_2?of=t","mediaType":"image/png"},{"type":"file","url":"/files/art_2?of=u","mediaType":"image/png"},{"type":"data-x","data":1},{"type":"text","text":"one"},{"type":"text","text":"two"}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, attachments, err := post.Turn(address)
	want := []wire.Attachment{
		{URL: "data:text/plain;base64,YQ==", MediaType: "text/plain", Name: "a.txt"},
		{ArtifactID: "art_1", MediaType: "image/png"},
		{ArtifactID: "art_2", MediaType: "image/png"},
		{URL: "/files/art_2?of=u", MediaType: "image/png"},
	}
	if diff := cmp.Diff(want, attachments); diff != "" || text != "one\ntwo" || err != nil {
		t.Errorf("%q %v %s", text, err, diff)
	}
	for bad, want := range map[string]string{
		``:                              `messages must have at least the message that is sent, with its role`,
		`{}`:                            `messages must have at least the message that is sent, with its role`,
		`{"role":"system"}`:             `messages: the last one has the role "system"; it must be user or assistant`,
		`[]`:                            `messages[0] must be an object`,
		`1`:                             `messages[0] must be an object`,
		`{"role":"user","parts":{}}`:    `messages[0].parts must be an array`,
		`{"role":"user","parts":[[]]}`:  `messages[0].parts[0] must be an object`,
		`{"role":"user","Role":"user"}`: `messages[0].role must be spelled exactly so, not "Role"`,
		`{"role":"assistant","parts":[{"approval":{"approved":"yes"}}]}`: `messages[0].parts[0].approval.approved must be true or false`,
	} {
		var messages []json.RawMessage
		if bad != "" {
			messages = []json.RawMessage{[]byte(bad)}
		}
		post, err := aisdk.ReadPost(messages)
		if err == nil {
			err = post.CheckRole()
		}
		if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
}
