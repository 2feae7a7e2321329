package responses_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/model/responses"
)

// stored returns content as a thread stores it.
func stored(t *testing.T, c spool.Content) spool.Content {
	t.Helper()

	raw, err := c.MarshalStored()
	if err != nil {
		t.Fatal(err)
	}
	var out spool.Content
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestItemsComeBack sends all kinds of items back to a strict server: without their ids, in their order.
func TestItemsComeBack(t *testing.T) {
	t.Parallel()

	server, http := serve(t, func(r *fake.Request) fake.Answer {
		if len(r.Input) > 1 {
			return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
		}
		return fake.Answer{Items: []fake.Item{
			fake.ReasonParts([]string{"**One** ", "<first>"}, []string{"**Two**"}),
			fake.Phase("commentary", "I search."),
			fake.Own(`{"type":"web_search_call","status":"completed","action":{"type":"search","query":"<Oslo> & é"}}`),
			fake.Own(`{"type":"compaction","encrypted_content":"abc"}`),
			fake.Reason(),
			fake.Call("call_a", "weather", `{"city":`, `"Oslo"}`),
			fake.Reason("More."),
			fake.Phase("commentary", "And one"), fake.Phase("final_answer", " more."),
		}}
	})
	m := open(t, http, responses.Config{})
	events := mustAsk(t, m, hello())
	if got := reasoningOf(events); got != "**One** <first>\n\n**Two**More." {
		t.Errorf("reasoning %q", got)
	}
	answer := stored(t, content(events))
	kinds := make([]string, len(answer))
	for i, p := range answer {
		kinds[i] = string(p.Type)
	}
	if got := strings.Join(kinds, ","); got != "reasoning,text,provider,provider,reasoning,tool-call,reasoning,text,text" {
		t.Fatalf("parts %s", got)
	}
	mustAsk(t, m, next(hello(), answer))
	got := server.Requests()[1].Input
	if len(got) != 11 {
		t.Fatalf("%d items: %s", len(got), server.Bodies()[1])
	}
	for i, in := range got {
		if in.ID != nil {
			t.Errorf("item %d has the id %s", i, *in.ID)
		}
	}
	if got[2].Phase != "commentary" || got[9].Phase != "final_answer" ||
		!strings.Contains(string(got[3].Raw), `<Oslo> & é`) {
		t.Errorf("the request is %s", server.Bodies()[1])
	}
}

// TestReasoningWithoutSuccessor cuts an answer within its reasoning. The reasoning would be refused.
func TestReasoningWithoutSuccessor(t *testing.T) {
	t.Parallel()

	for name, items := range map[string][]fake.Item{
		"at the end": {fake.Text("Half."), fake.Reason("Then")},
		"alone":      {fake.Reason("Then"), fake.Reason()},
		"before an image": {
			fake.Reason("Then"), fake.Own(`{"type":"image_generation_call","result":"iVBO"}`), fake.Text("There."),
		},
		"before no text":   {fake.Reason("Then"), fake.Text("")},
		"before a refusal": {fake.Reason("Then"), fake.Refusal("I ", "won't.")},
	} {
		_, http := serve(t, func(r *fake.Request) fake.Answer {
			if len(r.Input) > 1 {
				return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
			}
			return fake.Answer{Items: items}
		})
		m := open(t, http, responses.Config{})
		answer := content(mustAsk(t, m, hello()))
		if _, err := ask(t.Context(), m, next(hello(), answer)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBoundToItsModel sends an answer to a model of another name, and to one of another server.
func TestBoundToItsModel(t *testing.T) {
	t.Parallel()

	script := func(r *fake.Request) fake.Answer {
		if len(r.Input) > 1 {
			return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
		}
		return fake.Answer{
			Items: []fake.Item{fake.Reason("Thought."), fake.Own(`{"type":"web_search_call"}`), fake.Text("Hi.")},
		}
	}
	_, first := serve(t, script)
	_, second := serve(t, script)
	answer := content(mustAsk(t, open(t, first, responses.Config{}), hello()))
	mustAsk(t, open(t, first, responses.Config{}), next(hello(), answer))
	mustAsk(t, open(t, first, responses.Config{Model: "other"}), next(hello(), answer))
	mustAsk(t, open(t, second, responses.Config{}), next(hello(), answer))

	// The fake is strict: an altered item is refused.
	altered := slices.Clone(answer)
	altered[0].Provider = []byte(strings.Replace(string(altered[0].Provider), "gAAA", "gAAB", 1))
	_, err := ask(t.Context(), open(t, first, responses.Config{}), next(hello(), altered))
	if got := modelError(t, err); got.Type != "invalid_encrypted_content" || !got.Permanent() {
		t.Errorf("got %+v", got)
	}
}

// A refusal is shown as text, and ends the answer as one that was withheld.
func TestRefusal(t *testing.T) {
	t.Parallel()

	_, http := serve(t, always(fake.Refusal("I ", "can't help with that.")))
	events := mustAsk(t, open(t, http, responses.Config{}), hello())
	if got := finishOf(t, events); textOf(events) != "I can't help with that." || got.Reason != spool.FinishFilter {
		t.Errorf("got %v", events)
	}
}

// A call with fields of the provider's own comes back with them, and with the id that the provider gave.
func TestExtendedCall(t *testing.T) {
	t.Parallel()

	const call = `{"id":"fc_1","type":"function_call","call_id":"call_a","name":"weather","arguments":"{\"city\":\"Oslo\"}","namespace":"geo","status":"completed"}`
	server := newStream(t,
		`{"type":"response.output_item.done","output_index":0,"item":`+call+`}`, completed)
	m := open(t, server.Server, responses.Config{})
	answer := content(mustAsk(t, m, hello()))
	answer[0].ToolCallID = "call_a-renamed"
	mustAsk(t, m, next(hello(), answer))
	want := `{"type":"function_call","call_id":"call_a","name":"weather","arguments":"{\"city\":\"Oslo\"}","namespace":"geo","status":"completed"}`
	if got := server.second(); !strings.Contains(got, want) {
		t.Errorf("the request is %s", got)
	}
}

// Some servers want the ids of reasoning back.
func TestItemIDs(t *testing.T) {
	t.Parallel()

	for _, ids := range []bool{false, true} {
		server, http := serve(t, always(fake.Reason("Thought."), fake.Text("Hi.")))
		m := open(t, http, responses.Config{ItemIDs: ids, Store: true})
		mustAsk(t, m, next(hello(), content(mustAsk(t, m, hello()))))
		if got := server.Requests()[1].Input[1]; got.Type != "reasoning" || (got.ID != nil) != ids {
			t.Errorf("%t: the request is %s", ids, server.Bodies()[1])
		}
	}
}

// TestImagesOfAnswers sends an image that the model made back in the message behind it, and asks for one that is
// broken.
func TestImagesOfAnswers(t *testing.T) {
	t.Parallel()

	var last *fake.Request
	_, http := serve(t, func(r *fake.Request) fake.Answer {
		if last = r; len(r.Input) > 1 {
			return fake.Answer{Items: []fake.Item{fake.Text("Fine.")}}
		}
		return fake.Answer{Items: []fake.Item{
			fake.Own(`{"type":"image_generation_call","status":"completed","result":"/9j/","output_format":"jpeg"}`),
			fake.Own(`{"type":"image_generation_call","status":"failed","result":"?"}`), fake.Text("There."),
		}}
	})
	m := open(t, http, responses.Config{})
	events := mustAsk(t, m, hello())
	files := only[spool.FileMade](events)
	if len(files) != 1 || files[0].MediaType != "image/jpeg" || string(files[0].Data) != "\xff\xd8\xff" ||
		files[0].Provider != nil {
		t.Fatalf("got %+v", files)
	}
	mustAsk(t, m, next(hello(), content(events)))
	if got := last.Input[len(last.Input)-1].Parts(); len(got) != 2 || got[0].ImageURL != "data:image/jpeg;base64,/9j/" ||
		got[1].Text != "Go on." {
		t.Errorf("the last message is %+v", got)
	}
}
