package describe

import "github.com/spoolhq/spool/rest"

const aboutChat = `The useChat of the AI SDK posts here. Only the last message counts. A user's message starts a run, and the answer is the
assistant's message as a UI message stream, until the run ends or waits. A message that the thread already has is shown again, and
starts nothing. With the trigger regenerate-message, the run answers a turn again.

If the last message is an assistant's, its answers to open questions count, and the stream has only what follows. The id of a question names
the question that the person saw, and an answer to another one is refused.

Closing the connection does not stop the run. The post also needs the scope read, and approve for answers.`

const aboutChatMessages = `The saved messages of a chat, as useChat keeps them. What a run says after its last finished step comes with the
stream. A chat that does not exist has no messages.`

const aboutChatStream = `The message that is being written, from its start, so a client replaces what it has of the message. If nothing
runs, the answer is 204. With replay=last, it then is the last message once more.`

const aboutChatStop = `Stops the run of the chat. The stop of useChat itself only closes the connection.`

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
