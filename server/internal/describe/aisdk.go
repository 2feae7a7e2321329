package describe

import "github.com/spoolhq/spool/rest"

// Chats adds to the document what the types of the endpoints for the AI SDK cannot express.
func Chats(api *rest.API, base string) {
	paths := api.Huma().OpenAPI().Paths
	post, resume := paths[base+"/api/chat"].Post, paths[base+"/api/chat/{id}/stream"].Get
	post.RequestBody.Content["application/json"].Example = object{
		"id": "t1", "trigger": "submit-message",
		"messages": []object{{"id": "m1", "role": "user", "parts": []object{{"type": "text", "text": "Hello"}}}},
	}
	const chunks = "The chunks, each sent at once, until the run ends or waits for an answer. The last event is [DONE]."
	post.Responses["200"].Description, resume.Responses["200"].Description = chunks, chunks
	resume.Responses["204"].Description = "Nothing runs, or there is no such chat."
	refused := post.Responses["409"]
	refused.Description = "The chat has a run that is not over, or nothing waits for the answers. Nothing was changed."
	refused.Content["application/json"].Example = object{
		"accepted": false, "threadId": "t1", "reason": "active_run", "error": "Thread has an active run",
	}
	paths[base+"/api/chat/{id}"].Get.Responses["200"].Description = "The messages, for the messages of useChat."
	stop := paths[base+"/api/chat/{id}/stop"].Post
	stop.Responses["200"].Description = "The run was stopped, or will be in a moment."
	stop.Responses["409"].Description = "The chat has no run that could be stopped."
}
