package describe

import "github.com/spoolhq/spool/rest"

// Agents adds to the document what the types of the AG-UI endpoints cannot express.
func Agents(api *rest.API, base string) {
	op := api.Huma().OpenAPI().Paths[base+"/api/agent/ag-ui"].Post
	op.RequestBody.Content["application/json"].Example = object{
		"threadId": "t1", "runId": "r1", "protocolVersion": "1.0",
		"messages": []object{{"id": "m1", "role": "user", "content": "Hello"}},
	}
	shown := api.Huma().OpenAPI().Paths[base+"/api/agent/ag-ui/connect"].Post
	shown.RequestBody.Content["application/json"].Example = object{
		"threadId": "t1", "runId": "r1", "protocolVersion": "1.0", "messages": []object{},
	}
	shown.Responses["200"].Description = "The events, each sent at once, until the run ends or waits for an answer."
	op.Responses["200"].Description = "The events, each sent at once, until the run ends or waits for an answer."
	refused := op.Responses["409"]
	refused.Description = "The thread has a run that is not over, or nothing waits for the answers. Nothing was changed."
	refused.Content["application/json"].Example = object{
		"accepted": false, "threadId": "t1", "reason": "active_run", "error": "Thread has an active run",
	}
}
