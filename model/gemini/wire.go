package gemini

import (
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/surrogate"
)

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// content is a message of a request. Its parts are of the type part, or the JSON of a part that the adapter does
// not look into.
type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

// part is a part of a request.
type part struct {
	// Text is set for a text, also for an empty one.
	Text      *string           `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
	Inline    *blob             `json:"inlineData,omitempty"`
	File      *file             `json:"fileData,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Response  *functionResponse `json:"functionResponse,omitempty"`
}

// blob is a file inside a request. Data is base64.
type blob struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// file is a file that the provider fetches.
type file struct {
	MIMEType string `json:"mimeType,omitempty"`
	URI      string `json:"fileUri"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`

	// The Gemini API does not use these. Only the other backend sends arguments in pieces.
	PartialArgs  json.RawMessage `json:"partialArgs,omitempty"`
	WillContinue bool            `json:"willContinue,omitempty"`
}

type functionResponse struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
	Parts    []any           `json:"parts,omitempty"`
}

// chunk is one event of an answer.
type chunk struct {
	Candidates     []candidate     `json:"candidates"`
	PromptFeedback *feedback       `json:"promptFeedback"`
	Usage          *usage          `json:"usageMetadata"`
	ModelVersion   string          `json:"modelVersion"`
	Error          json.RawMessage `json:"error"`
}

// parse reads a chunk. A field of a wrong type counts as left out, unless texts or calls are in it.
func (c *chunk) parse(data []byte) error {
	err := json.Unmarshal(data, c)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); !wrong {
		return err
	}
	var response struct {
		Candidates []struct {
			Content struct {
				Parts []json.RawMessage `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	return json.Unmarshal(data, &response)
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason      string `json:"finishReason"`
	FinishMessage     string `json:"finishMessage"`
	ContinuationToken string `json:"continuationToken"`
	// Grounding has the sources of the answer.
	Grounding json.RawMessage `json:"groundingMetadata"`
}

type feedback struct {
	BlockReason string `json:"blockReason"`
}

// answerPart is a part of an answer. A part without a text, a call and a file is one that the adapter does not look
// into.
type answerPart struct {
	Text      *surrogate.Text `json:"text"`
	Thought   bool            `json:"thought"`
	Signature string          `json:"thoughtSignature"`
	Call      *functionCall   `json:"functionCall"`
	Inline    *blob           `json:"inlineData"`
	File      *file           `json:"fileData"`
}

type usage struct {
	Prompt     lenient.Count `json:"promptTokenCount"`
	Cached     lenient.Count `json:"cachedContentTokenCount"`
	Candidates lenient.Count `json:"candidatesTokenCount"`
	Thoughts   lenient.Count `json:"thoughtsTokenCount"`
	ToolUse    lenient.Count `json:"toolUsePromptTokenCount"`
}

// usage returns the reported counts. Google counts the thoughts apart from the answer, and the prompts of its own tools
// apart from the prompt. Counts that were not reported are nil.
func (u usage) usage() spool.Usage {
	return spool.Usage{
		Input: sum(u.Prompt, u.ToolUse), Output: sum(u.Candidates, u.Thoughts), CacheRead: u.Cached.N,
		Reasoning: u.Thoughts.N,
	}
}

// sum returns the sum of the counts that were reported, or nil if none was.
func sum(counts ...lenient.Count) *int64 {
	var total *int64
	for _, c := range counts {
		if c.N == nil {
			continue
		}
		if total == nil {
			total = new(int64)
		}
		*total += *c.N
	}
	return total
}
