package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// A bare loop streams each answer with the provider's SDK, keeps its text, calls the tool and asks again with the
// whole history. It saves nothing.

const (
	prompt = "Look at the sea."
	seen   = `{"seen":"nothing of note, as on all other days"}`
)

// errNoCall is returned for an answer that is not the fake's.
var errNoCall = errors.New("the answer has no call or not all of its text")

// whole reports whether the text is that of an answer.
func whole(text *strings.Builder) bool { return text.Len() == pieces*len(word) }

var schema = map[string]any{"at": map[string]any{"type": "string"}}

func bareAnthropic(ctx context.Context, url string, steps int) error {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("key"))
	params := anthropic.MessageNewParams{
		Model: "bench", MaxTokens: 4096, Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock(prompt)),
		},
		Tools: []anthropic.ToolUnionParam{
			anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: schema}, "look"),
		},
	}
	for range steps {
		stream := client.Messages.NewStreaming(ctx, params)
		var message anthropic.Message
		var text strings.Builder
		for stream.Next() {
			event := stream.Current()
			if err := message.Accumulate(event); err != nil {
				return err
			}
			text.WriteString(event.Delta.Text)
		}
		if err := errors.Join(stream.Err(), stream.Close()); err != nil {
			return err
		}
		if !whole(&text) || len(message.Content) != 2 {
			return errNoCall
		}
		params.Messages = append(params.Messages, message.ToParam(),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock(message.Content[1].ID, seen, false)))
	}
	return nil
}

func bareGemini(ctx context.Context, url string, steps int) error {
	client, err := genai.NewClient(ctx,
		&genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		return err
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "look", ParametersJsonSchema: map[string]any{"type": "object", "properties": schema},
	}}}}}
	contents := []*genai.Content{genai.NewContentFromText(prompt, genai.RoleUser)}
	for range steps {
		var text strings.Builder
		var call *genai.FunctionCall
		for response, err := range client.Models.GenerateContentStream(ctx, "bench", contents, config) {
			if err != nil {
				return err
			}
			for _, part := range response.Candidates[0].Content.Parts {
				text.WriteString(part.Text)
				if part.FunctionCall != nil {
					call = part.FunctionCall
				}
			}
		}
		if !whole(&text) || call == nil {
			return errNoCall
		}
		contents = append(contents,
			&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: text.String()}, {FunctionCall: call}}},
			&genai.Content{
				Role:  genai.RoleUser,
				Parts: []*genai.Part{genai.NewPartFromFunctionResponse("look", map[string]any{"output": seen})},
			})
	}
	return nil
}

func bareChat(ctx context.Context, url string, steps int) error {
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("key"))
	params := openai.ChatCompletionNewParams{
		Model: "bench", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "look", Parameters: openai.FunctionParameters{"type": "object", "properties": schema},
		})},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	for range steps {
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		var all openai.ChatCompletionAccumulator
		var text strings.Builder
		for stream.Next() {
			chunk := stream.Current()
			all.AddChunk(chunk)
			if len(chunk.Choices) > 0 {
				text.WriteString(chunk.Choices[0].Delta.Content)
			}
		}
		if err := errors.Join(stream.Err(), stream.Close()); err != nil {
			return err
		}
		if !whole(&text) || len(all.Choices) == 0 || len(all.Choices[0].Message.ToolCalls) == 0 {
			return errNoCall
		}
		message := all.Choices[0].Message
		params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage(seen, message.ToolCalls[0].ID))
	}
	return nil
}

func bareResponses(ctx context.Context, url string, steps int) error {
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("key"))
	input := responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
	}
	tools := []responses.ToolUnionParam{
		responses.ToolParamOfFunction("look", map[string]any{"type": "object", "properties": schema}, false),
	}
	for range steps {
		stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
			Model: "bench", Store: openai.Bool(false), Tools: tools,
			Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input},
		})
		var text strings.Builder
		var call responses.ResponseFunctionToolCall
		for stream.Next() {
			switch event := stream.Current(); event.Type {
			case "response.output_text.delta":
				text.WriteString(event.Delta)
			case "response.output_item.done":
				if event.Item.Type == "function_call" {
					call = event.Item.AsFunctionCall()
				}
			}
		}
		if err := errors.Join(stream.Err(), stream.Close()); err != nil {
			return err
		}
		if !whole(&text) || !json.Valid([]byte(call.Arguments)) {
			return errNoCall
		}
		input = append(input, responses.ResponseInputItemParamOfMessage(text.String(),
			responses.EasyInputMessageRoleAssistant),
			responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name),
			responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
				CallID: openai.String(call.CallID),
				Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(seen)},
			}})
	}
	return nil
}
