// Written by npm run generate, from spec/openapi.json.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Access: {
            /** @description Scopes, of which one is needed. Left out: none is. */
            scopes?: string[];
            /** @description The tenants. Left out: all. */
            tenants?: string[];
        };
        AdminJob: {
            /** @description The agent of the run. */
            agent: string;
            /**
             * Format: int64
             * @description The deliveries that counted.
             */
            attempts: number;
            /** @description Why the job died. Only for dead jobs. */
            cause?: string;
            /**
             * Format: date-time
             * @description When the job died. Only for dead jobs.
             */
            diedAt?: string;
            /**
             * Format: date-time
             * @description When the job is due.
             */
            dueAt?: string;
            /**
             * Format: date-time
             * @description When the job was due for the first time. Retries do not change it.
             */
            firstDueAt?: string;
            /**
             * Format: int64
             * @description The job's number, which rises with time.
             */
            jobId: number;
            /** @description Why the job was written: start, retry, resume, hand_back, reclaim, expiry, poll, cancel or settle. An event of the outbox has a kind of its sender. */
            kind: string;
            /**
             * Format: date-time
             * @description When another worker may claim the job, unless its worker reports. Only for jobs in flight.
             */
            lockedUntil?: string;
            /** @description The model of the run. */
            model?: string;
            /** @description Its run. */
            runId: string;
            /**
             * Format: int64
             * @description The segment that the job is for. Left out: any.
             */
            segment?: number;
            /**
             * @description The state of the job.
             * @enum {string}
             */
            state: "dead" | "ready" | "delayed" | "inflight";
            /** @description Its thread. */
            threadId: string;
        };
        AgentContent: {
            /** @description Who may start runs. Left out: everybody. */
            access?: components["schemas"]["Access"];
            /** @description The budget of a run, if the agent has one. Times are in nanoseconds. */
            budget?: components["schemas"]["Budget"];
            /**
             * Format: int64
             * @description How many bytes of context a client may send. Negative: it is ignored.
             */
            clientContext?: number;
            /**
             * Format: int64
             * @description How many tools a client may send. Negative: they are ignored.
             */
            clientTools?: number;
            /** @description Whether the person who started a run may not answer. */
            distinctApprover?: boolean;
            /** @description Fields of a request to the provider, as an object. A value that may be a secret is hidden. */
            extra?: unknown;
            /** @description What happens when the model fails. Left out: the run has no other model. */
            fallback?: components["schemas"]["FallbackContent"];
            /** @description Whether starts may not ask for another value. */
            fixedOutput?: boolean;
            /** @description The system prompt. Left out: none. */
            instructions?: string;
            /**
             * Format: int64
             * @description The bound of each answer of the model. Left out: the provider's.
             */
            maxOutputTokens?: number;
            /**
             * Format: int64
             * @description The bound of the steps of a run.
             */
            maxSteps: number;
            /** @description The model that is used unless a start asks for another one. */
            model: components["schemas"]["ModelContent"];
            /** @description The name. */
            name: string;
            /** @description Whether a run ends at its last step without an answer. */
            noFinalAnswer?: boolean;
            /** @description What happens to a run whose budget is used up. */
            onBudget?: string;
            /** @description The JSON value that the agent answers with. Left out: any text. */
            output?: components["schemas"]["OutputSchema"];
            /** @description The fields of a request to the provider that a start may set. */
            providerOptions?: string[];
            /** @description How the agent spawns nested runs. Left out: it does not. */
            spawn?: components["schemas"]["SpawnContent"];
            /** @description The sources of further tools, such as MCP servers. */
            toolSources?: string[];
            /** @description The tools, by name. */
            tools: components["schemas"]["ToolContent"][];
            /** @description The agents that the thread can be handed to, by name. Left out: none. */
            transfers?: components["schemas"]["TransferContent"][];
        };
        AgentCustom: {
            /** @description More from this server. */
            metadata?: components["schemas"]["AgentMetadataAgentPublisher"];
            /** @description The name of the event. */
            name: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "CUSTOM";
            /** @description The event's content: any JSON. */
            value: unknown;
        };
        /** @description An event of AG-UI 1.0, by its type. Ignore a type that you do not know. */
        AgentEvent: components["schemas"]["AgentRunStarted"] | components["schemas"]["AgentRunFinished"] | components["schemas"]["AgentRunError"] | components["schemas"]["AgentStepStarted"] | components["schemas"]["AgentStepFinished"] | components["schemas"]["AgentTextMessageStart"] | components["schemas"]["AgentTextMessageContent"] | components["schemas"]["AgentTextMessageEnd"] | components["schemas"]["AgentReasoningStart"] | components["schemas"]["AgentReasoningMessageStart"] | components["schemas"]["AgentReasoningMessageContent"] | components["schemas"]["AgentReasoningMessageEnd"] | components["schemas"]["AgentReasoningEnd"] | components["schemas"]["AgentToolCallStart"] | components["schemas"]["AgentToolCallArgs"] | components["schemas"]["AgentToolCallEnd"] | components["schemas"]["AgentToolCallResult"] | components["schemas"]["AgentMessagesSnapshot"] | components["schemas"]["AgentStateSnapshot"] | components["schemas"]["AgentStateDelta"] | components["schemas"]["AgentCustom"];
        AgentExtra: {
            /** @description The images and files that the model made. Left out: none. */
            files?: components["schemas"]["AgentFile"][];
            /** @description The pages and documents that the message names. Left out: none. */
            sources?: components["schemas"]["CitedSource"][];
        };
        AgentFile: {
            /** @description The URI of another file, artifact:art_... Left out: it is an image. */
            file?: string;
            /** @description The name of the file. Left out: it has none. */
            fileName?: string;
            /** @description The URI of an image, artifact:art_... Left out: it is no image. */
            image?: string;
            /** @description The type of the file. */
            mimeType: string;
            /** @description The address at which a page reads it. */
            url?: string;
        };
        AgentFunction: {
            /** @description The arguments as the model wrote them. */
            arguments: string;
            /** @description The tool. */
            name: string;
        };
        AgentInterrupt: {
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt?: string;
            /** @description The id that an answer in resume names. */
            id: string;
            /** @description The question. */
            message: string;
            /** @description More from this server. */
            metadata: components["schemas"]["AgentMetadataAgentQuestion"];
            /** @description Why the run waits, such as approval. */
            reason: string;
            /** @description The JSON Schema of an answer's payload. */
            responseSchema: unknown;
            /** @description The call that waits. */
            toolCallId: string;
        };
        AgentMessage: {
            /** @description The text or parts. Left out: the message has only calls or files. */
            content?: string | components["schemas"]["AgentPart"][];
            /** @description The message's id. For a user's turn it is the client's own id, if there is one. */
            id: string;
            /** @description More from this server. */
            metadata?: components["schemas"]["AgentMetadataAgentExtra"];
            /**
             * @description Who speaks.
             * @enum {string}
             */
            role: "user" | "assistant" | "system" | "tool" | "reasoning";
            /** @description The call whose result this is. Only for the role tool. */
            toolCallId?: string;
            /** @description The calls of an assistant. */
            toolCalls?: components["schemas"]["AgentToolCall"][];
        };
        AgentMessagesSnapshot: {
            /** @description All messages. They replace the client's. */
            messages: components["schemas"]["AgentMessage"][];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "MESSAGES_SNAPSHOT";
        };
        AgentMetadataAgentExtra: {
            /** @description Data that AG-UI has no field for. */
            spool: components["schemas"]["AgentExtra"];
        };
        AgentMetadataAgentPublisher: {
            /** @description Data that AG-UI has no field for. */
            spool: components["schemas"]["AgentPublisher"];
        };
        AgentMetadataAgentQuestion: {
            /** @description Data that AG-UI has no field for. */
            spool: components["schemas"]["AgentQuestion"];
        };
        AgentMetadataAgentRun: {
            /** @description Data that AG-UI has no field for. */
            spool: components["schemas"]["AgentRun"];
        };
        AgentMetadataAgentStep: {
            /** @description Data that AG-UI has no field for. */
            spool: components["schemas"]["AgentStep"];
        };
        AgentOperation: {
            /** @description The operation. */
            op: string;
            /** @description The JSON Pointer of the value. */
            path: string;
            /** @description The new value. */
            value: components["schemas"]["AgentThreadState"];
        };
        AgentOutcome: {
            /** @description The questions that the run waits for. Only with interrupt. */
            interrupts?: components["schemas"]["AgentInterrupt"][];
            /**
             * @description How the run ended: with interrupt, it waits.
             * @enum {string}
             */
            type: "success" | "interrupt" | "cancelled";
        };
        AgentPart: {
            /** @description The bytes of an image or a document, or their address. */
            source?: components["schemas"]["AgentSource"];
            /** @description The text of a text part. */
            text?: string;
            /** @description text, image or document; others are refused. */
            type: string;
        };
        AgentPublisher: {
            /** @description True for an event of an application. */
            published: boolean;
            /** @description The subject who published the event. */
            publishedBy?: string;
            /** @description The tool that published it. */
            publishedByTool?: string;
        };
        AgentQuestion: {
            /** @description The nested run that asks, if one does. */
            agentId?: string;
            /** @description The arguments in the question. */
            arguments: unknown;
            /** @description Identifies the question. An answer with it counts for this question only. */
            digest?: string;
            /** @description Whether the person who started the run may not answer. */
            distinctApprover?: boolean;
            /**
             * Format: int64
             * @description The number of the question among those of the call, from 2. Left out: the first.
             */
            occurrence?: number;
            /** @description The tool. */
            toolName: string;
        };
        AgentReasoningEnd: {
            /** @description The message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_END";
        };
        AgentReasoningMessageContent: {
            /** @description The text to append. */
            delta: string;
            /** @description The message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_MESSAGE_CONTENT";
        };
        AgentReasoningMessageEnd: {
            /** @description The message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_MESSAGE_END";
        };
        AgentReasoningMessageStart: {
            /** @description The message. */
            messageId: string;
            /** @description Always reasoning. */
            role: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_MESSAGE_START";
        };
        AgentReasoningStart: {
            /** @description The message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_START";
        };
        AgentRefusal: {
            /** @description Always false. */
            accepted: boolean;
            /** @description queue_full in a 503: the same request may be accepted later. Left out in all other cases. */
            code?: string;
            /** @description The reason of the refusal, for a person. */
            error: string;
            /**
             * @description The reason of the refusal, for a program.
             * @example active_run
             */
            reason: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
        };
        AgentResult: {
            /** @description The run's stopReason, or client_tool if the run waits for the client to execute its tools. */
            finishReason: string;
            /** @description The JSON value that the run was asked for, of up to 64 KiB. */
            output?: unknown;
        };
        AgentRun: {
            /** @description The server's id of the run, if the client has its own id for it. */
            runId: string;
        };
        AgentRunError: {
            /** @description The error's code, for a program. */
            code?: string;
            /** @description The error, for a person. */
            message: string;
            /** @description More from this server. */
            metadata?: components["schemas"]["MetadataRunMark"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_ERROR";
            /** @description The tokens that the run used. */
            usage?: components["schemas"]["TokenCount"][];
        };
        AgentRunFinished: {
            /** @description More from this server. */
            metadata?: components["schemas"]["MetadataRunMark"];
            /** @description How the run ended. */
            outcome: components["schemas"]["AgentOutcome"];
            /** @description Why the run ended, if the outcome does not say it. */
            result?: components["schemas"]["AgentResult"];
            /** @description The run, by the client's own id. */
            runId: string;
            /** @description The thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_FINISHED";
            /** @description The tokens that it used. */
            usage?: components["schemas"]["TokenCount"][];
        };
        AgentRunStarted: {
            /** @description More from this server. */
            metadata?: components["schemas"]["AgentMetadataAgentRun"];
            /** @description The version of AG-UI. */
            protocolVersion: string;
            /** @description The run, by the client's own id. */
            runId: string;
            /** @description The thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_STARTED";
        };
        AgentSource: {
            /** @description The type of the image or the document. */
            mimeType?: string;
            /** @description url, or data for base64 in value. */
            type: string;
            /** @description The URL, or the bytes. */
            value: string;
        };
        AgentStateDelta: {
            /** @description Changes of the state that the client has, by RFC 6902. */
            delta: components["schemas"]["AgentOperation"][];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STATE_DELTA";
        };
        AgentStateSnapshot: {
            /** @description The state, which replaces the client's. It has the thread under the key spool. */
            snapshot: {
                [key: string]: components["schemas"]["AgentThreadState"];
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STATE_SNAPSHOT";
        };
        AgentStep: {
            /** @description The nested run. Null: the run itself. */
            agentId: string | null;
            /** @description Why the model stopped. */
            finishReason: string;
            /**
             * Format: int64
             * @description Counts from 1.
             */
            step: number;
            /** @description The tokens of the step. */
            usage: components["schemas"]["TokenCount"];
        };
        AgentStepFinished: {
            /** @description More from this server. */
            metadata?: components["schemas"]["AgentMetadataAgentStep"];
            /** @description The step's name. */
            stepName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STEP_FINISHED";
        };
        AgentStepStarted: {
            /** @description The step's name. */
            stepName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STEP_STARTED";
        };
        AgentTextMessageContent: {
            /** @description The text to append. */
            delta: string;
            /** @description The message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_CONTENT";
        };
        AgentTextMessageEnd: {
            /** @description The message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_END";
        };
        AgentTextMessageStart: {
            /** @description The message. */
            messageId: string;
            /** @description Who speaks. */
            role: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_START";
        };
        AgentThreadState: {
            /** @description Why the run failed. */
            error?: string;
            /** @description Its run. */
            runId?: string;
            /** @description The state of the thread. */
            state: string;
            /** @description Why the run ended. */
            stopReason?: string;
        };
        AgentToolCall: {
            /** @description The tool and its arguments. */
            function: components["schemas"]["AgentFunction"];
            /** @description The call's id. */
            id: string;
            /** @description Always function. */
            type: string;
        };
        AgentToolCallArgs: {
            /** @description The text to append to the arguments. */
            delta: string;
            /** @description The call. */
            toolCallId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_ARGS";
        };
        AgentToolCallEnd: {
            /** @description The call. */
            toolCallId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_END";
        };
        AgentToolCallResult: {
            /** @description The result of the tool: its text, or JSON as text. */
            content: string;
            /** @description The message of the result. */
            messageId: string;
            /** @description Always tool. */
            role: string;
            /** @description The call. */
            toolCallId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_RESULT";
        };
        AgentToolCallStart: {
            /** @description The message that the call is part of. */
            parentMessageId: string;
            /** @description The call. */
            toolCallId: string;
            /** @description The tool. */
            toolCallName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_START";
        };
        AnswerDetail: {
            /** @description The arguments with which an approved call runs, instead of its own. */
            arguments?: unknown;
            /** @description What the question asks for, such as the new totals of a budget, as the inputSchema of its approvalDescriptor says. */
            payload?: unknown;
        };
        ApplicationEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            /** @description Any JSON. */
            payload: unknown;
            /** @description Always true. No other event has it. */
            published: boolean;
            /** @description The subject who published it. */
            publishedBy?: string;
            /** @description The tool whose call published it. */
            publishedByTool?: string;
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description The application's name for it. It differs from all types of Event.
             * @example INVOICE_PAID
             */
            type: string;
        };
        Artifact: {
            /** @description The id, for the URI artifact:art_... and for attachments. */
            id: string;
            /** @description The type of the data. */
            mediaType: string;
            /** @description The name of the file. Left out: it has none. */
            name?: string;
            /**
             * Format: int64
             * @description The size of the data, in bytes.
             */
            size: number;
        };
        ArtifactURL: {
            /**
             * Format: date-time
             * @description When the URL expires.
             */
            expiresAt: string;
            /**
             * @description The URL. It begins with the path if the server does not know its public URL.
             * @example /api/agent/artifacts/art_0c6c38ccc5b7f5ac8a8cd0a53ab3d6b5/data?token=eyJ0Ijoi...Q.pT2x
             */
            url: string;
        };
        Attachment: {
            /** @description An artifact of the thread, instead of a URL. */
            artifactId?: string;
            /**
             * @description The type of the image or the file.
             * @example image/png
             */
            mediaType?: string;
            /**
             * @description The name of a file that is not an image.
             * @example report.pdf
             */
            name?: string;
            /**
             * @description An http, https or data URL. Left out: the attachment is an artifact.
             * @example https://example.com/cat.png
             */
            url?: string;
        };
        AuditEntry: {
            /**
             * @description The action.
             * @enum {string}
             */
            action: "answer" | "raise_budget" | "stop" | "delete_thread" | "prune_thread" | "redrive_job" | "purge_jobs" | "change_owner" | "create_webhook" | "change_webhook" | "remove_webhook" | "create_schedule" | "change_schedule" | "remove_schedule" | "pause_schedule" | "resume_schedule" | "run_schedule" | "move_start" | "cancel_start" | "failed_authentication";
            /** @description The address of the client. Only for refused credentials. */
            address?: string;
            /** @description Whether the answer allowed the call. Only for answers. */
            approved?: boolean;
            /**
             * Format: date-time
             * @description When it was done.
             */
            at: string;
            /** @description The subject who did it. Left out: not known, the server itself, or an operator of another tenant. */
            by?: string;
            /** @description The tenant of an operator who did it. Only for operators. */
            byTenant?: string;
            /**
             * Format: int64
             * @description The number of attempts that the entry counts. Left out: one.
             */
            count?: number;
            /** @description More, as an object: the revision of the agent that asked, the new limits of a raised budget, or the minimum age of purged jobs. */
            detail?: unknown;
            /** @description The digest of the question. Only for answers. */
            digest?: string;
            /**
             * Format: int64
             * @description The dead job.
             */
            jobId?: number;
            /** @description Whether an operator of the server did it. */
            operator?: boolean;
            /** @description The reason, in the words of the person. For a prune by the server itself: retention. */
            reason?: string;
            /** @description The run. */
            runId?: string;
            /**
             * Format: int64
             * @description The number of the entry, from 1 without gaps.
             */
            seq: number;
            /** @description The thread. */
            threadId?: string;
            /** @description The call that was answered. */
            toolCallId?: string;
        };
        AuditList: {
            /** @description The entries, the last written one first. */
            entries: components["schemas"]["AuditEntry"][];
            /** @description The value of before for the next page. Left out: this is the last page. */
            next?: string;
        };
        Branch: {
            /**
             * Format: int64
             * @description The branch with that message, which must be restored first. Left out: this branch can be restored.
             */
            baseBranchId?: number;
            /** @description The message after which it begins. Left out: it begins with the thread. */
            baseMessageId?: string;
            /**
             * Format: date-time
             * @description When its messages were replaced.
             */
            createdAt: string;
            /** @description Its first message. */
            fromMessageId: string;
            /**
             * Format: int64
             * @description The branch's id: the seq of the MESSAGES_DROPPED that made it.
             * @example 7
             */
            id: number;
            /**
             * Format: int64
             * @description How many messages it has.
             */
            messageCount: number;
            /**
             * @description The beginning of its first turn of the user, in up to 80 characters.
             * @example Hello
             */
            preview: string;
            /** @description The run that replaced them. Left out: another branch was restored. */
            runId?: string;
        };
        BranchList: {
            /** @description The branches, the newest one first. */
            branches: components["schemas"]["Branch"][];
        };
        BranchMessages: {
            /** @description The branch. */
            branch: components["schemas"]["Branch"];
            /** @description Its messages, in their order. */
            messages: components["schemas"]["Message"][];
        };
        Budget: {
            /**
             * Format: int64
             * @description Bounds what the model calls cost, in millionths of the currency.
             */
            costMicros?: number;
            /** @description The currency of the cost. Calls with a price in another currency count as unpriced. Defaults to the currency of the first price. */
            currency?: string;
            /**
             * Format: int64
             * @description Bounds the tokens of all prompts and answers.
             */
            tokens?: number;
            /**
             * Format: int64
             * @description Bounds the calls of tools.
             */
            toolCalls?: number;
            /**
             * Format: int64
             * @description Bounds how long workers execute the run, without the time in which it waits for an answer, a worker or the next attempt.
             */
            wallTime?: number;
        };
        CallPending: {
            /** @description The nested run that made the call. Left out: the dispatched run. */
            agentId?: string;
            /** @description How far the work is, for a person. */
            note?: string;
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * Format: date-time
             * @description When the call fails if it is still pending.
             */
            until: string;
        };
        /** @description The work of a call goes on elsewhere, or there is news about it. */
        CallPendingEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["CallPending"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "CALL_PENDING";
        };
        CallRecord: {
            /**
             * @description The state of the call's effect. Left out: no worker has begun the call.
             * @enum {string}
             */
            effect?: "pending" | "done" | "void" | "waiting";
            /** @description Whether the call failed, by its result. Left out: it did not, or has no result. */
            failed?: boolean;
            /**
             * @description The state of the call's wait. Left out: it did not wait.
             * @enum {string}
             */
            park?: "open" | "answered" | "expired" | "closed" | "pending" | "done";
            /** @description The call. */
            toolCallId: string;
            /** @description The tool. Left out: the message with the call is not in the view. */
            toolName?: string;
        };
        ChatApproval: {
            /** @description The answer. Left out: none. */
            approved?: boolean;
            /** @description More about the question. */
            descriptor?: components["schemas"]["ChatQuestion"];
            /** @description The question. */
            id: string;
            /** @description Why. */
            reason?: string;
            /** @description The question in words. */
            requestReason?: string;
        };
        ChatCaller: {
            /** @description Its name. */
            agent?: string;
            /** @description The nested run. */
            agentId: string;
        };
        ChatChunk: {
            /** @description The question. */
            approvalDescriptor?: components["schemas"]["ChatQuestion"];
            /** @description The question that waits for an answer. */
            approvalId?: string;
            /** @description The content of a data part. */
            data?: unknown;
            /** @description The text to append. */
            delta?: string;
            /** @description Whether the call becomes a part of the type dynamic-tool: it is a call of a nested run. */
            dynamic?: boolean;
            /** @description Why the call or the run failed. */
            errorText?: string;
            /**
             * @description How the run ended.
             * @enum {string}
             */
            finishReason?: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
            /** @description The block, the part or the message that the chunk is about. */
            id?: string;
            /** @description The arguments. */
            input?: unknown;
            /** @description The text to append to the arguments. */
            inputTextDelta?: string;
            /** @description The type of a file. */
            mediaType?: string;
            /** @description The assistant's message. Only in start. */
            messageId?: string;
            /** @description What else is known of the message. */
            messageMetadata?: components["schemas"]["ChatMetadata"];
            /** @description The result. */
            output?: unknown;
            /** @description The message of a steer. */
            parts?: components["schemas"]["ChatTurnPart"][];
            /** @description Whether the server executes the call. False: the page does. */
            providerExecuted?: boolean;
            /** @description What else is known of a source. */
            providerMetadata?: components["schemas"]["ChatCited"];
            /** @description Why it waits, or why the run was stopped. */
            reason?: string;
            /** @description The id of a source. */
            sourceId?: string;
            /** @description The title of a source. */
            title?: string;
            /** @description The call. */
            toolCallId?: string;
            /** @description The nested run that made the call. */
            toolMetadata?: components["schemas"]["ChatCaller"];
            /** @description The tool. */
            toolName?: string;
            /** @description Whether the data part is an event: it does not become a part of the message. */
            transient?: boolean;
            /** @description The kind: start, start-step, text-delta, tool-input-available, finish and so on, or data- and a name. */
            type: string;
            /** @description The address of a file. */
            url?: string;
        };
        ChatCited: {
            /** @description What this server says of it. */
            spool: components["schemas"]["ChatCitedBy"];
        };
        ChatCitedBy: {
            /** @description The pieces of the step's text that it supports, in Unicode code points. Left out: it is not known which. */
            spans?: components["schemas"]["Span"][];
            /** @description The call whose result names it. Left out: the model does. */
            toolCallId?: string;
        };
        ChatMessage: {
            /** @description The message's id. For an assistant's message it is the run's, for a user's the client's own if there is one. */
            id: string;
            /** @description What else is known of the message. */
            metadata?: components["schemas"]["ChatMetadata"];
            /** @description The text, the calls and so on, in order. */
            parts: components["schemas"]["ChatPart"][];
            /**
             * @description Who speaks.
             * @enum {string}
             */
            role: "system" | "user" | "assistant";
        };
        ChatMessages: {
            /** @description Ask with it for older messages. Left out: there are none. */
            before?: string;
            /** @description The messages, the oldest first. */
            messages: components["schemas"]["ChatMessage"][];
        };
        ChatMetadata: {
            /** @description The questions that nobody answered in time. */
            expired?: components["schemas"]["Expired"];
            /** @description The JSON value that the run was asked for. */
            output?: unknown;
            /** @description The run that wrote the message. */
            runId?: string;
            /** @description Why the run ended before it was done. */
            stopReason?: string;
            /** @description The tokens that the run used. */
            usage?: components["schemas"]["TokenCount"];
        };
        ChatPart: {
            /** @description The question that the call waits for. */
            approval?: components["schemas"]["ChatApproval"];
            /** @description The content of a data part. */
            data?: unknown;
            /** @description Why the call failed. */
            errorText?: string;
            /** @description The name of a file. */
            filename?: string;
            /** @description The part's own id. */
            id?: string;
            /** @description The arguments. */
            input?: unknown;
            /** @description The type of a file. */
            mediaType?: string;
            /** @description The result. */
            output?: unknown;
            /** @description The message of a steer. */
            parts?: components["schemas"]["ChatTurnPart"][];
            /** @description Whether the server executes the call. */
            providerExecuted?: boolean;
            /** @description What else is known of a source. */
            providerMetadata?: components["schemas"]["ChatCited"];
            /** @description The id of a source. */
            sourceId?: string;
            /** @description How far the part is. */
            state?: string;
            /** @description The text. */
            text?: string;
            /** @description The title of a source. */
            title?: string;
            /** @description The call. */
            toolCallId?: string;
            /** @description The nested run that made the call. */
            toolMetadata?: components["schemas"]["ChatCaller"];
            /** @description The tool. Only of a dynamic-tool. */
            toolName?: string;
            /** @description text, reasoning, file, step-start, tool- and the name of a tool, dynamic-tool, or data- and a name. */
            type: string;
            /** @description The address of a file, or a data URL. */
            url?: string;
        };
        ChatQuestion: {
            /** @description The nested runs above the call, the outermost first. Left out: the run's own agent asks. */
            agentPath?: string[];
            /** @description The arguments in the question. */
            arguments?: unknown;
            /** @description Identifies the question. */
            digest?: string;
            /** @description Whether the person who started the run may not answer. */
            distinctApprover?: boolean;
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt?: string;
            /** @description The JSON Schema of the payload or the arguments of an answer. */
            inputSchema?: unknown;
            /** @description Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word. */
            reason: string;
            /** @description The tool. */
            toolName: string;
        };
        ChatRefusal: {
            /** @description Always false. */
            accepted: boolean;
            /** @description queue_full in a 503: the same request may be accepted later. Left out in all other cases. */
            code?: string;
            /** @description The reason of the refusal, for a person. */
            error: string;
            /**
             * @description The reason of the refusal, for a program.
             * @example active_run
             */
            reason: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
        };
        ChatRequest: {
            /** @description The agent that runs. Defaults to the server's first. */
            agent?: string;
            /** @description More about the answers in an assistant's message, by the id of the call. */
            answers?: {
                [key: string]: components["schemas"]["AnswerDetail"];
            };
            /**
             * @description The chat, which is a thread. If it does not exist, its first message creates it.
             * @example t1
             */
            id: string;
            /**
             * Format: int64
             * @description A maximum of steps below the agent's own. Zero: the agent's own.
             */
            maxSteps?: number;
            /** @description The user's message that is replaced, or the message whose turn is answered again. */
            messageId?: string;
            /** @description The chat as the client has it. Only the last message counts: a user's is a prompt, and an assistant's has answers to questions. */
            messages: unknown[];
            /** @description The model. Defaults to the agent's. */
            model?: string;
            /** @description Asks for a JSON value as the answer, instead of the agent's own. An agent may refuse it. */
            output?: components["schemas"]["OutputSchema"];
            /** @description Fields of the request to the model's provider. The agent's configuration says which are allowed. */
            providerOptions?: unknown;
            /** @description Tools that the page executes itself. The agent's configuration says how many are allowed. */
            tools?: components["schemas"]["PageTool"][];
            /**
             * @description submit-message, or regenerate-message to answer a turn again.
             * @enum {string}
             */
            trigger?: "submit-message" | "regenerate-message";
            /**
             * @description A URL that is told of the events of the run. The configuration has to list its host.
             * @example https://hooks.example.com/spool
             */
            webhook?: string;
            /**
             * @description What to do while the thread has another run. Defaults to the agent's, or reject.
             * @enum {string}
             */
            whenBusy?: "reject" | "enqueue" | "latest" | "interrupt" | "rollback" | "steer";
        };
        ChatTurnPart: {
            /** @description The name of a file. */
            filename?: string;
            /** @description The type of a file. */
            mediaType?: string;
            /** @description The text. */
            text?: string;
            /** @description text or file. */
            type: string;
            /** @description The address of a file. */
            url?: string;
        };
        CitedSource: {
            /** @description The pieces of the message's text that it supports, in order. Left out: it is not known which. */
            spans?: components["schemas"]["Span"][];
            /** @description The title, or the name of the file. Left out: none, and there is a URL. */
            title?: string;
            /** @description The address of the page, with http or https. Left out: it is a document, or has no address to open. */
            url?: string;
        };
        CompactRequest: {
            /**
             * @description The thread to summarise.
             * @example t1
             */
            threadId: string;
        };
        CompactResult: {
            /**
             * @description Whether a summary now replaces older messages for the model.
             * @example true
             */
            compacted: boolean;
            /** @description The reason of the refusal, for a person. */
            error?: string;
            /**
             * @description The reason of the refusal, for a program.
             * @enum {string}
             */
            reason?: "active_run" | "not_found" | "nothing_to_compact" | "changed";
            /**
             * Format: int64
             * @description The number of messages that the summary replaces for the model.
             */
            summarizedMessages?: number;
        };
        ContextCompacted: {
            /** @description The nested run whose messages they are. Left out: the run's own agent's. */
            agentId?: string;
            /** @description The message with the summary. */
            messageId?: string;
            /**
             * Format: int64
             * @description Counts the messages that the summary replaces for the model.
             */
            summarizedMessages: number;
        };
        /** @description A summary replaces older messages in prompts to the model. */
        ContextCompactedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["ContextCompacted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "CONTEXT_COMPACTED";
        };
        ContextSummary: {
            /** @description The text of the summary. */
            text?: string;
            /** @description The last message that the summary covers. */
            throughMessageId?: string;
            /** @constant */
            type: "CONTEXT_SUMMARY";
        };
        ContextUsage: {
            /**
             * Format: int64
             * @description The window without the part that is reserved for the answer.
             */
            budgetTokens: number;
            /**
             * Format: int64
             * @description The size at which older messages are summarised. Zero: never.
             */
            compactAtTokens: number;
            /**
             * Format: int64
             * @description How many messages there are, those that are summarised included.
             */
            messages: number;
            /**
             * Format: int64
             * @description The last prompt and answer as the provider counted them, with an estimate of what was said since.
             */
            usedTokens: number;
        };
        ControlRequest: {
            /** @description The run to stop. Left out: all runs of the thread. */
            runId?: string;
            /**
             * @description The thread whose runs to stop: the present run, and all runs that wait.
             * @example t1
             */
            threadId: string;
        };
        CostBudgetExhausted: {
            /** @description The nested run. Null: the run itself. */
            agentId: string | null;
            /**
             * Format: int64
             * @description The budget in millionths of the currency.
             */
            costBudgetMicros: number;
            /**
             * Format: int64
             * @description The cost in millionths of the currency.
             */
            costMicros: number;
            /** @description A code such as USD. */
            currency?: string;
            /** @description The model without a price to which the run has come. Left out: the budget is used up. */
            unpricedModel?: string;
        };
        /** @description The run has used up its money. */
        CostBudgetExhaustedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["CostBudgetExhausted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "COST_BUDGET_EXHAUSTED";
        };
        CurrencyCost: {
            /**
             * Format: int64
             * @description The calls that were priced in it.
             */
            calls: number;
            /**
             * Format: int64
             * @description The sum in millionths of it.
             */
            costMicros: number;
            /**
             * @description The currency.
             * @example USD
             */
            currency: string;
        };
        /** @description An application's own live event. */
        CustomItem: {
            /** @description The application's name for it. */
            name: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The subject who published it. */
            publishedBy?: string;
            /** @description The tool whose call published it. */
            publishedByTool?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "CUSTOM";
            /** @description Any JSON. */
            value: unknown;
        };
        DeadWebhooks: {
            /** @description The events, the last one to die first. Fewer than the limit: there are no more. */
            events: components["schemas"]["WebhookDead"][];
        };
        DelayedStart: {
            /**
             * @description The agent that would run now. One that the start does not name is chosen when it comes due.
             * @example assistant
             */
            agent: string;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            createdAt: string;
            /** @description Why it was refused, for a person. */
            error?: string;
            /**
             * @description Why it was refused, for a program.
             * @example active_run
             */
            reason?: string;
            /**
             * Format: date-time
             * @description When it came due and was refused, or was imported. Left out: it waits for its time.
             */
            refusedAt?: string;
            /**
             * @description The run that it will be. No other start can take the id.
             * @example r1
             */
            runId: string;
            /**
             * Format: date-time
             * @description When it comes due.
             */
            startAt: string;
            /** @description The subject that has started it. Left out: not known. */
            startedBy?: string;
            /**
             * @description The thread, which it creates if it does not exist then.
             * @example t1
             */
            threadId: string;
            /** @description The title of the start, or the beginning of its prompt. */
            title?: string;
            /** @description What it does if the thread has an active run then. Left out: as the agent says. */
            whenBusy?: string;
        };
        DelayedStarts: {
            /** @description In the order of their run ids. Fewer than the limit: there are no more. */
            starts: components["schemas"]["DelayedStart"][];
        };
        DeleteRefusal: {
            /**
             * @description Always false.
             * @example false
             */
            accepted: boolean;
            /**
             * @description The error's code, for a program.
             * @example invalid
             */
            code: string;
            /**
             * @description The error, for a person.
             * @example threadId is required
             */
            error: string;
        };
        DeleteResult: {
            /**
             * @description Whether the thread is gone.
             * @example true
             */
            accepted: boolean;
            /** @description Why the thread was not deleted, for a person. */
            error?: string;
            /**
             * @description Why the thread was not deleted, for a program.
             * @enum {string}
             */
            reason?: "not_found" | "active_run";
        };
        Delivered: {
            /** @description The user turn. */
            messageId: string;
            /** @description The run that reads the message. */
            runId: string;
        };
        DeltaPark: {
            /** @description The run that waits. */
            runId: string;
            /**
             * @description The state of the park.
             * @enum {string}
             */
            state: "open" | "answered" | "expired" | "closed" | "pending" | "done";
            /** @description The call that waits. */
            toolCallId: string;
        };
        DeltaRun: {
            /** @description The agent that runs. */
            agent: string;
            /**
             * Format: int64
             * @description How many attempts failed since the last finished step.
             */
            attempts: number;
            /**
             * Format: int64
             * @description The part of them that came from a cache.
             */
            cachedInputTokens: number;
            /**
             * Format: int64
             * @description The run's budget, in millionths of the currency.
             */
            costBudgetMicros?: number;
            /**
             * Format: int64
             * @description The cost of the run and of all runs nested in it, in millionths of the currency.
             */
            costMicros?: number;
            /**
             * @description The currency of costMicros. Left out: no price is known.
             * @example USD
             */
            currency?: string;
            /**
             * Format: int64
             * @description Zero for a run that was started over HTTP.
             */
            depth: number;
            /**
             * Format: int64
             * @description How long it ran.
             */
            durationMs?: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            enqueuedAt?: string;
            /** @description Why it failed, for a person. */
            error?: string;
            /** @description The questions that nobody answered in time. Left out: none. */
            expired?: components["schemas"]["Expired"];
            /** @description The run's id. */
            id: string;
            /**
             * Format: int64
             * @description Tokens that the model read, cached ones included.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description The cap that the start asked for.
             */
            maxSteps?: number;
            /** @description The model that was asked for, or the agent's. */
            model: string;
            /**
             * Format: int64
             * @description Tokens that the model wrote.
             */
            outputTokens: number;
            /** @description The run that spawned this one. Left out: the run is not nested. */
            parentRunId?: string;
            /** @description The tool call that spawned the run. */
            parentToolCallId?: string;
            /**
             * Format: int64
             * @description Orders the runs that wait for the thread. Left out: the run does not wait.
             */
            place?: number;
            /** @description The brief of a nested run, cut short. */
            prompt?: string;
            /**
             * Format: int64
             * @description How long it waited for a worker.
             */
            queuedMs?: number;
            /** @description The result that a nested run returned to the run that spawned it. */
            result?: components["schemas"]["NestedResult"];
            /**
             * Format: date-time
             * @description When a worker first claimed it.
             */
            startedAt: string;
            /** @description The subject who started the run, from the credentials. */
            startedBy?: string;
            /** @description The state of the run. */
            state: string;
            /**
             * Format: int64
             * @description How many steps are finished.
             */
            steps: number;
            /** @description Why it ended. */
            stopReason?: string;
            /** @description Its thread. */
            threadId: string;
            /**
             * Format: int64
             * @description How many tokens the run and its nested runs may use. Left out: any number.
             */
            tokenBudget?: number;
            /**
             * Format: int64
             * @description How often it may call tools.
             */
            toolCallBudget?: number;
            /**
             * Format: int64
             * @description Both.
             */
            totalTokens: number;
            /** @description What a waiting run brings. Left out: it did not change. */
            wait?: components["schemas"]["DeltaWait"];
            /**
             * Format: int64
             * @description How long the run may execute, in milliseconds.
             */
            wallTimeMs?: number;
        };
        DeltaThread: {
            /** @description The labels. */
            labels?: {
                [key: string]: string;
            };
            /** @description The model of the last run. */
            model: string;
            /** @description The subject who made it, or whose it is now. */
            owner?: string;
            /** @description The state of the thread's run. */
            state: string;
            /** @description The title. */
            title: string;
        };
        DeltaWait: {
            /** @description The client's own id for the turn. */
            clientMessageId?: string;
            /** @description The user's turn. */
            content?: string | components["schemas"]["Part"][] | components["schemas"]["ContextSummary"];
            /** @description What the start asked for, if the thread was busy. */
            whenBusy: string;
        };
        ErrorBody: {
            /**
             * @description The error's code, for a program. Codes do not change.
             * @example invalid
             */
            code: string;
            /**
             * @description The error, for a person. The text may change.
             * @example threadId is required
             */
            error: string;
        };
        /** @description An entry of a thread's record, or a notice, by its type. An application's own entries and notices have other types and the mark published (ApplicationEvent). Ignore a type that you do not know. */
        Event: components["schemas"]["RunStartedEvent"] | components["schemas"]["RunEndedEvent"] | components["schemas"]["InputRequiredEvent"] | components["schemas"]["InputExpiringEvent"] | components["schemas"]["InputExtendedEvent"] | components["schemas"]["InputExpiredEvent"] | components["schemas"]["CallPendingEvent"] | components["schemas"]["HitlResponseEvent"] | components["schemas"]["MessagesDroppedEvent"] | components["schemas"]["MessagesRestoredEvent"] | components["schemas"]["SteeredEvent"] | components["schemas"]["ContextCompactedEvent"] | components["schemas"]["TokenBudgetExhaustedEvent"] | components["schemas"]["CostBudgetExhaustedEvent"] | components["schemas"]["ToolCallBudgetExhaustedEvent"] | components["schemas"]["TimeBudgetExhaustedEvent"] | components["schemas"]["TimeLimitReachedEvent"] | components["schemas"]["StorageLimitReachedEvent"] | components["schemas"]["OutputRejectedEvent"] | components["schemas"]["ModelFallbackEvent"] | components["schemas"]["FileDroppedEvent"] | components["schemas"]["HandedOverEvent"] | components["schemas"]["RunRefusedEvent"] | components["schemas"]["StateChangeEvent"] | components["schemas"]["MessageAppendedEvent"] | components["schemas"]["ThreadDeletedEvent"];
        EventPage: {
            /** @description The events, in the order of their seq. */
            events: components["schemas"]["ApplicationEvent"][];
            /**
             * Format: int64
             * @description The value of after for the next page. It is present even if this page has few events. Left out: this is the last page.
             */
            next?: number;
        };
        Expired: {
            /**
             * Format: int64
             * @description How many questions nobody answered in time.
             * @example 1
             */
            questions: number;
            /**
             * Format: date-time
             * @description The end of the time to answer the first of them.
             */
            since: string;
        };
        FallbackContent: {
            /**
             * Format: int64
             * @description How many attempts a model has.
             */
            after: number;
            /** @description The models that the run goes on with, in order. */
            models: components["schemas"]["ModelContent"][];
            /** @description The failures that move a run on. */
            on: string[];
        };
        /** @description An image or another file of the answer. */
        File: {
            /** @description The URI of another file, artifact:art_... Left out: it is an image. */
            file?: string;
            /** @description The name of the file. Left out: it has none. */
            fileName?: string;
            /** @description The URI of an image, artifact:art_... Left out: it is no image. */
            image?: string;
            /** @description The type of the file. */
            mimeType: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "FILE";
        };
        FileDropped: {
            /** @description The nested run. Left out: the run itself. */
            agentId?: string;
            /** @description The file. Left out: the images and files of all results. */
            artifactId?: string;
            /** @description The model, by its configured name. */
            model: string;
            /**
             * Format: int64
             * @description The step whose request is the first without the file, from 1.
             */
            step: number;
            /** @description What the model reads in place of the file. */
            text: string;
        };
        /** @description The model does not get a file of the run, and reads a text in its place. */
        FileDroppedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["FileDropped"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "FILE_DROPPED";
        };
        /** @description An image or another file of the answer. */
        FileItem: {
            /** @description The URI of another file, artifact:art_... Left out: it is an image. */
            file?: string;
            /** @description The name of the file. Left out: it has none. */
            fileName?: string;
            /** @description The URI of an image, artifact:art_... Left out: it is no image. */
            image?: string;
            /** @description The type of the file. */
            mimeType: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "FILE";
        };
        FilePart: {
            /** @description A URL, a data URL, or the URI of an artifact. */
            file: string;
            /** @description The name of the file. Left out: it has none. */
            fileName?: string;
            /** @description The type of the image or the file. */
            mimeType?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "file";
        };
        ForkInput: {
            /**
             * @description The id of the new thread, which must not exist. Left out: a new id.
             * @example t2
             */
            newThreadId?: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
            /**
             * Format: int64
             * @description The version of the thread whose messages the new one begins with.
             * @example 7
             */
            version: number;
        };
        ForkResult: {
            /**
             * @description Whether there is a new thread.
             * @example true
             */
            accepted: boolean;
            /** @description Why there is no new thread, for a person. */
            error?: string;
            /**
             * Format: int64
             * @description How many messages the new thread has.
             * @example 4
             */
            messages: number;
            /**
             * @description Why there is no new thread, for a program.
             * @enum {string}
             */
            reason?: "thread_id_used" | "not_found";
            /**
             * @description The new thread.
             * @example t2
             */
            threadId: string;
        };
        /** @description One message of the stream, by its kind. Ignore a kind that you do not know. */
        Frame: components["schemas"]["ThreadFrame"] | components["schemas"]["StreamFrame"] | components["schemas"]["SnapshotFrame"];
        HITLResponse: {
            /** @description The subject who answered. Left out: the host does not know it. */
            answeredBy?: string;
            /** @description Whether the call may run. */
            approved: boolean;
            /** @description The arguments that the call runs with instead of the requested ones. Left out: the requested ones. */
            arguments?: unknown;
            /** @description Identifies what was answered. */
            digest?: string;
            /** @description The reason, in the words of the person who answered. */
            reason?: string;
            /** @description The call that waited. */
            toolCallId: string;
            /** @description "link" for an answer by a link. Left out: the subject has answered with credentials of its own. */
            via?: string;
            /** @description The subject that made the link. */
            viaBy?: string;
        };
        HandedOver: {
            /** @description The agent that had the thread. */
            from: string;
            /**
             * @description What the other agent sees of the thread.
             * @enum {string}
             */
            history: "all" | "brief";
            /**
             * Format: int64
             * @description The step whose call handed the thread over, from 1.
             */
            step: number;
            /** @description The agent that has it from now on. */
            to: string;
        };
        /** @description Another agent has taken the thread over. */
        HandedOverEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["HandedOver"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "HANDED_OVER";
        };
        Healthy: {
            /**
             * @description Always ok.
             * @enum {string}
             */
            status: "ok";
        };
        /** @description An answer was accepted. */
        HitlResponseEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["HITLResponse"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "HITL_RESPONSE";
        };
        ImagePart: {
            /** @description A URL, a data URL, or the URI of an artifact. */
            image: string;
            /** @description The type of the image or the file. */
            mimeType?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image";
        };
        Inbox: {
            /** @description The value of after for the next page. Left out: this is the last page. */
            next?: string;
            /** @description The questions. */
            questions: components["schemas"]["Question"][];
        };
        InboxAnswer: {
            /**
             * @description True: the call runs (again, if it parked itself). False: the model reads that it was denied.
             * @example true
             */
            approved: boolean;
            /** @description An object of arguments with which an approved call runs instead of its own. The tool must accept it. */
            arguments?: unknown;
            /** @description The digest of the question. An answer to anything else does not count. */
            digest: string;
            /** @description Any JSON, for the tool. */
            payload?: unknown;
            /**
             * @description The reason, in up to 4096 bytes. The model reads it, and the record keeps it.
             * @example not on a Friday
             */
            reason?: string;
            /**
             * @description The thread that waits.
             * @example t1
             */
            threadId: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
        };
        InboxAnswers: {
            /** @description The answers, up to 100. */
            answers: components["schemas"]["InboxAnswer"][];
        };
        InboxLink: {
            /**
             * Format: date-time
             * @description When the link expires.
             */
            expiresAt: string;
            /** @description The link, to revoke it. */
            linkId: string;
            /**
             * @description The link. It begins with the path if the server does not know its public URL.
             * @example https://agents.example/api/agent/inbox/links/eyJ0Ijoi...Q.pT2x
             */
            url: string;
        };
        InboxLinkRequest: {
            /**
             * @description Who answers with the link, in up to 256 bytes. The record and the audit log name this subject. Send the link to nobody else.
             * @example ann@example.com
             */
            approver: string;
            /** @description The digest of the question, if you have it: a link to another question is refused. */
            digest?: string;
            /**
             * @description How long the link works, such as 2h: from 1m to 24h, and never longer than the question waits. Left out: 24h.
             * @example 2h
             */
            expiresIn?: string;
            /**
             * @description The thread that waits.
             * @example t1
             */
            threadId: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
        };
        InboxLinks: {
            /** @description The links, the oldest of each maker first. Fewer than the limit: there are no more. */
            links: components["schemas"]["QuestionLink"][];
        };
        InboxResult: {
            /**
             * @description The code of an error: the answer is wrong, or it failed this time (unavailable) and may be sent again. Left out: no error.
             * @example invalid
             */
            code?: string;
            /**
             * @description Whether this answer counts.
             * @example true
             */
            delivered: boolean;
            /** @description Why the answer does not count, for a person. */
            error?: string;
            /**
             * @description Why the answer does not count, as respond says it.
             * @example already_answered
             */
            reason?: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
            /**
             * @description The call.
             * @example call_1
             */
            toolCallId: string;
        };
        InboxResults: {
            /** @description The result of each answer, in the order of the answers. */
            results: components["schemas"]["InboxResult"][];
        };
        InputContext: {
            /** @description What it is. */
            description: string;
            /** @description What it says. */
            value: string;
        };
        InputExpired: {
            /**
             * @description What follows. Left out: the run goes on without the call.
             * @enum {string}
             */
            onExpiry?: "fail";
            /** @description The call that waited. */
            toolCallId: string;
        };
        /** @description Nobody answered in time. */
        InputExpiredEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["InputExpired"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "INPUT_EXPIRED";
        };
        /** @description The time to answer is nearly over. */
        InputExpiringEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["InputExpiry"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "INPUT_EXPIRING";
        };
        InputExpiry: {
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt: string;
            /**
             * @description What happens at that time. Left out: the run goes on without the call.
             * @enum {string}
             */
            onExpiry?: "fail" | "extend";
            /** @description The call that waits. */
            toolCallId: string;
        };
        /** @description Nobody answered in time, and the question gets more time. */
        InputExtendedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["InputExpiry"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "INPUT_EXTENDED";
        };
        InputMessage: {
            /** @description A text. A user's message may also have a list of parts with texts, images and documents. */
            content?: unknown;
            /** @description Why the call failed. Only for the role tool. */
            error?: string;
            /** @description The client's name for the message. */
            id: string;
            /** @description Who speaks. */
            role: string;
            /** @description The call whose result this is. Only for the role tool. */
            toolCallId?: string;
        };
        InputRequired: {
            /** @description Only in events: outcome_unknown or budget_reached, where the reason is approval so that every client shows the question. */
            about?: string;
            /** @description The nested run that asks. Null: the run's own agent. */
            agentId: string | null;
            /** @description Any JSON: the arguments of the call, or the content that its tool shows. */
            arguments: unknown;
            /** @description Identifies the question. Send it back with the answer. */
            digest?: string;
            /** @description Whether the person who started the run may not answer. */
            distinctApprover?: boolean;
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt?: string;
            /** @description The calls of the runs above that wait for this one, the innermost first. */
            frames: components["schemas"]["ParkFrame"][];
            /** @description The JSON Schema of the arguments that the answer to an approval may have, or of the payload of another answer. Null: there is none. */
            inputSchema: unknown;
            /** @description The nested run that asks. */
            nested?: components["schemas"]["NestedCaller"];
            /**
             * Format: int64
             * @description The number of the question among those of the call, from 2. The answer then must have the digest. Left out: the first.
             */
            occurrence?: number;
            /**
             * @description What happens at that time. Left out: the run goes on without the call.
             * @enum {string}
             */
            onExpiry?: "fail" | "extend";
            /**
             * @description Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word.
             * @example approval
             */
            reason: string;
            /** @description The revision of the run's agent that asks. */
            revision?: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
            /**
             * @description Its tool.
             * @example send_email
             */
            toolName: string;
        };
        /** @description A call waits for an answer. */
        InputRequiredEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["InputRequired"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "INPUT_REQUIRED";
        };
        /** @description A call waits for an answer. */
        InputRequiredItem: {
            /** @description Only in events: outcome_unknown or budget_reached, where the reason is approval so that every client shows the question. */
            about?: string;
            /** @description The nested run that asks. Null: the run's own agent. */
            agentId: string | null;
            /** @description Any JSON: the arguments of the call, or the content that its tool shows. */
            arguments: unknown;
            /** @description Identifies the question. Send it back with the answer. */
            digest?: string;
            /** @description Whether the person who started the run may not answer. */
            distinctApprover?: boolean;
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt?: string;
            /** @description The calls of the runs above that wait for this one, the innermost first. */
            frames: components["schemas"]["ParkFrame"][];
            /** @description The JSON Schema of the arguments that the answer to an approval may have, or of the payload of another answer. Null: there is none. */
            inputSchema: unknown;
            /** @description The nested run that asks. */
            nested?: components["schemas"]["NestedCaller"];
            /**
             * Format: int64
             * @description The number of the question among those of the call, from 2. The answer then must have the digest. Left out: the first.
             */
            occurrence?: number;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * @description What happens at that time. Left out: the run goes on without the call.
             * @enum {string}
             */
            onExpiry?: "fail" | "extend";
            /**
             * @description Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word.
             * @example approval
             */
            reason: string;
            /** @description The revision of the run's agent that asks. */
            revision?: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
            /**
             * @description Its tool.
             * @example send_email
             */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "INPUT_REQUIRED";
        };
        InputTool: {
            /** @description The description for the model. */
            description?: string;
            /** @description 1 to 64 letters, digits, underscores and hyphens. No tool of the agent has it. */
            name: string;
            /** @description The JSON Schema of the arguments, which are an object. Left out: any object. The server does not follow references. */
            parameters?: unknown;
        };
        /** @description An item of a run stream, by its type. Ignore a type that you do not know. */
        Item: components["schemas"]["RunStartedItem"] | components["schemas"]["TextMessageStartItem"] | components["schemas"]["TextMessageContentItem"] | components["schemas"]["TextMessageEndItem"] | components["schemas"]["ReasoningStartItem"] | components["schemas"]["ReasoningContentItem"] | components["schemas"]["ReasoningEndItem"] | components["schemas"]["ToolCallStartItem"] | components["schemas"]["ToolCallArgsItem"] | components["schemas"]["ToolCallEndItem"] | components["schemas"]["ToolCallResultItem"] | components["schemas"]["FileItem"] | components["schemas"]["SourceItem"] | components["schemas"]["StepFinishedItem"] | components["schemas"]["InputRequiredItem"] | components["schemas"]["SubagentStartedItem"] | components["schemas"]["SubagentEventItem"] | components["schemas"]["SubagentFinishedItem"] | components["schemas"]["WaitingForProviderItem"] | components["schemas"]["CustomItem"] | components["schemas"]["RunFinishedItem"] | components["schemas"]["RunErrorItem"];
        Job: {
            /**
             * @description The agent that runs.
             * @example assistant
             */
            agent: string;
            /**
             * Format: date-time
             * @description When the job is due.
             */
            dueAt?: string;
            /** @description The queue's own id of the job. */
            key?: string;
            /** @description The kind of the job. Leave it out. */
            kind?: string;
            /** @description The model of the run. */
            model?: string;
            /** @description The content of an event. Leave it out. */
            payload?: unknown;
            /** @description The named queue of the job. Leave it out: the default one. */
            queue?: string;
            /**
             * @description The run, as the start returned it.
             * @example r1
             */
            runId: string;
            /**
             * Format: int64
             * @description The segment that the job is for. Leave it out: any.
             */
            segment?: number;
            /** @description The tenant of the run. Defaults to the default tenant. */
            tenant?: string;
            /**
             * @description The thread, as the start returned it.
             * @example t1
             */
            threadId: string;
        };
        JobList: {
            /** @description The jobs: the last that died first, or the one that has been due longest first. */
            jobs: components["schemas"]["AdminJob"][];
            /** @description The value of before for the next page of dead jobs. Left out: this is the last page. */
            next?: string;
        };
        Line: {
            /**
             * Format: int64
             * @description Of a message: the branch that has it. Left out: it is in the view.
             */
            branch?: number;
            /** @description What a commit has changed, by version. */
            delta?: components["schemas"]["SnapshotDelta"];
            /** @description An entry of the record, by seq. */
            entry?: components["schemas"]["Event"];
            /** @description Of a thread: spool.record. */
            format?: string;
            /**
             * Format: int64
             * @description Of a thread: the version of the format, 1.
             */
            formatVersion?: number;
            /**
             * @description The kind of line: the thread comes first, and the end last.
             * @enum {string}
             */
            kind: "thread" | "run" | "message" | "entry" | "delta" | "end";
            /** @description A message: those of the view in their order, then those of each branch. */
            message?: components["schemas"]["Message"];
            /** @description A present run, the oldest one first. */
            run?: components["schemas"]["Run"];
            /** @description Of a thread: the run that has the thread, or had it last. */
            runId?: string;
            /** @description Of a thread: the present thread. */
            thread?: components["schemas"]["Thread"];
            /**
             * Format: int64
             * @description Of the end: the last version.
             */
            version?: number;
        };
        Message: {
            /** @description The agent that wrote it, if one did. */
            agentId: string | null;
            /** @description The client's own id for the turn. */
            clientMessageId?: string;
            /** @description A text, a list of parts, or a summary of what was said before. */
            content: string | components["schemas"]["Part"][] | components["schemas"]["ContextSummary"];
            /**
             * Format: date-time
             * @description When it was saved.
             */
            createdAt: string;
            /** @description The message's id. */
            id: string;
            /**
             * @description Who speaks.
             * @enum {string}
             */
            role: "user" | "assistant" | "system" | "tool";
            /** @description The run that it belongs to. */
            runId?: string;
            /** @description Its thread. */
            threadId: string;
        };
        /** @description A turn of the user. A notice. */
        MessageAppendedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["Message"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "MESSAGE_APPENDED";
        };
        MessagesDropped: {
            /** @description The first message that left the view. */
            fromMessageId: string;
        };
        /** @description Clients no longer show this message and all messages after it. */
        MessagesDroppedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["MessagesDropped"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "MESSAGES_DROPPED";
        };
        MessagesRestored: {
            /**
             * Format: int64
             * @description The branch whose messages they are.
             */
            branchId: number;
            /**
             * Format: int64
             * @description The number of restored messages.
             */
            count: number;
            /** @description The first message that came back. */
            fromMessageId: string;
        };
        /** @description The messages of a branch are shown again, behind all others. */
        MessagesRestoredEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["MessagesRestored"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "MESSAGES_RESTORED";
        };
        MetadataRunMark: {
            /** @description Data that AG-UI has no field for. */
            spool: components["schemas"]["RunMark"];
        };
        ModelContent: {
            /** @description The provider's name of the model, if the model names it. */
            id?: string;
            /** @description The name in the configuration. Left out: the model of the run that spawns. */
            name?: string;
            /**
             * @description The provider, if the model names it.
             * @example openai
             */
            provider?: string;
        };
        ModelFallback: {
            /** @description The nested run. Left out: the run itself. */
            agentId?: string;
            /**
             * @description The class of the failure.
             * @enum {string}
             */
            cause: "down" | "rate_limit" | "refused";
            /** @description The failure. */
            error: string;
            /** @description The model that failed, by its configured name. */
            from: string;
            /**
             * Format: int64
             * @description The step that the other model is asked for, from 1.
             */
            step: number;
            /** @description The model that is asked from now on. */
            to: string;
        };
        /** @description A model failed, and the run goes on with another one. */
        ModelFallbackEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["ModelFallback"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "MODEL_FALLBACK";
        };
        Money: {
            /**
             * @description The currency.
             * @example USD
             */
            currency: string;
            /**
             * Format: int64
             * @description The amount in millionths of it.
             */
            micros: number;
        };
        MoveRequest: {
            /**
             * Format: date-time
             * @description The new time, at most 366 days ahead. A time in the past is now.
             */
            startAt: string;
        };
        NestedCaller: {
            /** @description Its id. */
            agentId: string;
            /**
             * Format: int64
             * @description How deep it is nested, from 1.
             */
            depth: number;
            /** @description Its model. */
            model: string;
            /** @description The agent. */
            name: string;
        };
        NestedResult: {
            /** @description Its last answer, which may be cut short. */
            text: string;
        };
        OperatorRespondRequest: {
            /**
             * @description True: the call runs (again, if it parked itself). False: the model reads that it was denied.
             * @example true
             */
            approved: boolean;
            /** @description An object of arguments with which an approved call runs instead of its own. The tool must accept it. */
            arguments?: unknown;
            /** @description The digest of what was shown. An answer to anything else does not count. */
            digest?: string;
            /** @description Any JSON, for the tool. */
            payload?: unknown;
            /**
             * @description The reason, in up to 4096 bytes. The model reads it, and the record keeps it.
             * @example not on a Friday
             */
            reason?: string;
            /**
             * @description The run. Either this or threadId.
             * @example r1
             */
            runId?: string;
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
            /** @description The thread. */
            threadId?: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
        };
        OperatorStopRequest: {
            /**
             * @description The run. Either this or threadId.
             * @example r1
             */
            runId?: string;
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
            /** @description The thread. */
            threadId?: string;
        };
        OutputRejected: {
            /** @description The nested run. Left out: the run itself. */
            agentId?: string;
            /** @description How the answer differs from the schema. */
            problem: string;
            /** @description Whether the model is asked once more. Otherwise the run fails. */
            repair: boolean;
            /**
             * Format: int64
             * @description The step of the answer, from 1.
             */
            step: number;
        };
        /** @description An answer does not fit the schema of the run. */
        OutputRejectedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["OutputRejected"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "OUTPUT_REJECTED";
        };
        OutputSchema: {
            /** @description What the value is for, for the model. */
            description?: string;
            /**
             * @description The name of the value. The model may see it.
             * @example weather_report
             */
            name: string;
            /** @description The JSON Schema of the value, which is an object. */
            schema: unknown;
        };
        Overview: {
            /** @description Its newest runs that are not over, up to 50. */
            active: components["schemas"]["Run"][];
            /**
             * Format: int64
             * @description How many bytes it stores, about.
             */
            bytes: number;
            /**
             * Format: int64
             * @description The maximum. Left out: there is none.
             */
            bytesLimit?: number;
            /** @description Its jobs. */
            queue: components["schemas"]["QueueStats"];
            /**
             * Format: int64
             * @description How many runs, nested ones included.
             */
            runs: number;
            /** @description The number of runs in each state. States without runs are absent. */
            runsByState: {
                [key: string]: number;
            };
            /** @description The tenant. */
            tenant: string;
            /**
             * Format: int64
             * @description How many threads it has.
             */
            threads: number;
            /** @description The tokens of all threads. */
            tokens: components["schemas"]["TokenCount"];
        };
        PageTool: {
            /** @description What it does, for the model. */
            description?: string;
            /** @description The tool's name. No tool of the agent has it. */
            name: string;
            /** @description The JSON Schema of its arguments, an object's. Left out: any object. */
            parameters?: unknown;
        };
        ParkAnswer: {
            /** @description Whether the call was allowed. */
            approved: boolean;
            /** @description The arguments of the approval. Left out: it did not change them. */
            args?: unknown;
            /**
             * Format: date-time
             * @description When the answer was accepted.
             */
            at: string;
            /** @description The subject who answered. */
            by?: string;
            /** @description The digest of what was answered. */
            digest?: string;
            /** @description The payload of the answer. */
            payload?: unknown;
            /** @description The reason of the answer. */
            reason?: string;
        };
        ParkDetail: {
            /** @description The answer that counted. Left out: none. */
            answer?: components["schemas"]["ParkAnswer"];
            /** @description The content that a person is shown. */
            asked?: unknown;
            /**
             * Format: date-time
             * @description When the wait began.
             */
            createdAt: string;
            /** @description Identifies the question. Send it back with the answer. */
            digest?: string;
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt?: string;
            /** @description Why it waits. */
            reason: string;
            /** @description The revision of the agent that asked. */
            revision?: string;
            /**
             * @description The state of the wait.
             * @enum {string}
             */
            state: "open" | "answered" | "expired" | "closed" | "pending" | "done";
            /**
             * Format: int64
             * @description Its step.
             */
            step: number;
            /** @description The call that waits. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
        };
        ParkFrame: {
            /** @description The nested run that made the call. Null: the run's own agent. */
            agentId: string | null;
            /** @description The call. */
            toolCallId: string;
        };
        /** @description A piece of a message, by its type. Ignore a part whose type you do not know. */
        Part: components["schemas"]["TextPart"] | components["schemas"]["ReasoningPart"] | components["schemas"]["ImagePart"] | components["schemas"]["FilePart"] | components["schemas"]["ToolCallPart"] | components["schemas"]["ToolResultPart"] | components["schemas"]["SourcePart"];
        ProfileContent: {
            /** @description What the spawning model reads of it. */
            description?: string;
            /** @description Fields of a request to the provider, as an object. A value that may be a secret is hidden. */
            extra?: unknown;
            /** @description The models that it goes on with when its model fails, in order. */
            fallbacks?: components["schemas"]["ModelContent"][];
            /** @description The system prompt. Left out: none. */
            instructions?: string;
            /**
             * Format: int64
             * @description The bound of each answer of the model. Left out: the provider's.
             */
            maxOutputTokens?: number;
            /**
             * Format: int64
             * @description The bound of the steps.
             */
            maxSteps: number;
            /** @description The model. */
            model: components["schemas"]["ModelContent"];
            /** @description The name. */
            name: string;
            /** @description The JSON value that it answers with. Left out: any text. */
            output?: components["schemas"]["OutputSchema"];
            /** @description Whether it may spawn too. */
            spawns?: boolean;
            /** @description The sources of further tools. */
            toolSources?: string[];
            /** @description The tools, by name. */
            tools: components["schemas"]["ToolContent"][];
        };
        PruneAnswer: {
            /** @description Whether this was a dry run, which deletes nothing. */
            dryRun: boolean;
            /** @description Whether the limit was reached. Then there may be more threads. */
            more: boolean;
            /** @description The ids of the threads, the one that has been idle longest first. */
            threadIds: string[];
            /**
             * Format: int64
             * @description The number of threads that were deleted, or would be.
             */
            threads: number;
        };
        PruneRequest: {
            /** @description True lists the threads that would be deleted, and deletes nothing. */
            dryRun?: boolean;
            /**
             * Format: int64
             * @description The maximum number of threads to delete, up to 1000, which is the default.
             */
            limit?: number;
            /**
             * @description How long nothing must have happened in a thread.
             * @example 720h
             */
            olderThan: string;
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
        };
        PublishRequest: {
            /**
             * @description True: the event is an entry of the record, which later clients get too. False: only clients that follow now get it.
             * @example true
             */
            durable?: boolean;
            /** @description Any JSON: up to 6144 bytes, or 65536 of a durable event. Left out: null. */
            payload?: unknown;
            /**
             * @description The thread, which has to exist.
             * @example t1
             */
            threadId: string;
            /**
             * @description Your own word for the event. The types of record entries, notices and items are refused.
             * @example progress
             */
            type: string;
        };
        PublishResult: {
            /** @description Always true. */
            accepted: boolean;
            /**
             * Format: int64
             * @description The entry's seq in the record. Only for a durable event.
             * @example 7
             */
            seq?: number;
        };
        PurgeAnswer: {
            /**
             * Format: int64
             * @description The number of dead jobs that were forgotten.
             */
            purged: number;
        };
        PurgeRequest: {
            /** @description All dead jobs, instead of one. */
            all?: boolean;
            /**
             * Format: int64
             * @description The job.
             */
            jobId?: number;
            /**
             * @description With all: only jobs that have been dead for this long. Defaults to all dead jobs.
             * @example 720h
             */
            olderThan?: string;
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
        };
        Question: {
            /** @description Only in events: outcome_unknown or budget_reached, where the reason is approval so that every client shows the question. */
            about?: string;
            /** @description The agent of the run. */
            agent: string;
            /** @description The nested run that asks. Null: the run's own agent. */
            agentId: string | null;
            /** @description Any JSON: the arguments of the call, or the content that its tool shows. */
            arguments: unknown;
            /**
             * Format: int64
             * @description The size of arguments that are left out because they are large. Then arguments is null, and the thread has them. Left out: arguments has all of them.
             */
            argumentsBytes?: number;
            /** @description The beginning of the JSON of arguments that are left out. */
            argumentsPreview?: string;
            /**
             * Format: date-time
             * @description When the question was asked.
             */
            askedAt: string;
            /** @description Identifies the question. Send it back with the answer. */
            digest?: string;
            /** @description Whether the person who started the run may not answer. */
            distinctApprover?: boolean;
            /** @description Whether nobody answered until expiresAt. Left out: somebody can answer. */
            expired?: boolean;
            /**
             * Format: date-time
             * @description The end of the time to answer.
             */
            expiresAt?: string;
            /** @description The calls of the runs above that wait for this one, the innermost first. */
            frames: components["schemas"]["ParkFrame"][];
            /** @description The JSON Schema of the arguments that the answer to an approval may have, or of the payload of another answer. Null: there is none. */
            inputSchema: unknown;
            /** @description The labels of the thread. */
            labels?: {
                [key: string]: string;
            };
            /** @description The nested run that asks. */
            nested?: components["schemas"]["NestedCaller"];
            /**
             * Format: int64
             * @description The number of the question among those of the call, from 2. The answer then must have the digest. Left out: the first.
             */
            occurrence?: number;
            /**
             * @description What happens at that time. Left out: the run goes on without the call.
             * @enum {string}
             */
            onExpiry?: "fail" | "extend";
            /**
             * @description The subject who made the thread. Left out: not known.
             * @example ann
             */
            owner?: string;
            /** @description The agents from the run's own down to the one that made the call. It has one name unless a nested run asks. */
            path: string[];
            /**
             * @description Why it waits: approval, outcome_unknown, budget_reached, or the tool's own word.
             * @example approval
             */
            reason: string;
            /** @description The revision of the run's agent that asks. */
            revision?: string;
            /**
             * @description The run that waits.
             * @example r1
             */
            runId: string;
            /**
             * @description The subject who started the run. Left out: not known.
             * @example ann
             */
            startedBy?: string;
            /**
             * @description The thread that waits.
             * @example t1
             */
            threadId: string;
            /** @description The title of the thread. */
            title: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
            /**
             * @description Its tool.
             * @example send_email
             */
            toolName: string;
        };
        QuestionLink: {
            /**
             * @description Who answers with the link.
             * @example ann@example.com
             */
            approver: string;
            /**
             * Format: date-time
             * @description When the link was made.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the link expires.
             */
            expiresAt: string;
            /** @description The link, to revoke it. */
            linkId: string;
            /** @description Who made the link. Left out: nobody is known. */
            madeBy?: string;
            /**
             * @description The thread that waits.
             * @example t1
             */
            threadId: string;
            /**
             * @description The call that waits.
             * @example call_1
             */
            toolCallId: string;
        };
        QueueStats: {
            /**
             * Format: int64
             * @description Dead jobs.
             */
            dead: number;
            /**
             * Format: int64
             * @description Jobs that are not due yet, or again.
             */
            delayed: number;
            /** @description Further numbers of this queue. */
            extra?: unknown;
            /**
             * Format: int64
             * @description Jobs that a worker has.
             */
            inFlight: number;
            /**
             * Format: int64
             * @description How long the oldest due job has waited.
             */
            oldestReadyMs: number;
            /**
             * Format: int64
             * @description Jobs that wait for a worker.
             */
            ready: number;
        };
        QueuedRun: {
            /** @description The client's own name for its turn. */
            clientMessageId?: string;
            /** @description Its turn, as the content of a message. */
            content?: string | components["schemas"]["Part"][] | components["schemas"]["ContextSummary"];
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            enqueuedAt: string;
            /**
             * Format: int64
             * @description The position in the queue, from 1, which is the next run.
             */
            position: number;
            /** @description The run's id. */
            runId: string;
            /**
             * @description The whenBusy of the start.
             * @enum {string}
             */
            whenBusy: "enqueue" | "latest" | "interrupt" | "rollback" | "steer";
        };
        Readiness: {
            /**
             * @description The checks, each with ok or with what is wrong.
             * @example {
             *       "store": "ok"
             *     }
             */
            checks: {
                [key: string]: string;
            };
            /** @description The error's code: unavailable. */
            code?: string;
            /** @description The error, for a person. */
            error?: string;
            /**
             * @description Whether the process is ready for requests.
             * @enum {string}
             */
            status: "ok" | "unavailable";
        };
        /** @description A piece of reasoning. */
        ReasoningContent: {
            /** @description The text to append. */
            delta: string;
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_CONTENT";
        };
        /** @description A piece of reasoning. */
        ReasoningContentItem: {
            /** @description The text to append. */
            delta: string;
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_CONTENT";
        };
        /** @description Reasoning ends. */
        ReasoningEnd: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_END";
        };
        /** @description Reasoning ends. */
        ReasoningEndItem: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_END";
        };
        ReasoningPart: {
            /** @description The text. Left out: none. */
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reasoning";
        };
        /** @description Reasoning begins. */
        ReasoningStart: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_START";
        };
        /** @description Reasoning begins. */
        ReasoningStartItem: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "REASONING_START";
        };
        RedriveAnswer: {
            /** @description The value of before that continues with further jobs. Left out: there are none. */
            next?: string;
            /**
             * Format: int64
             * @description How many jobs were accepted.
             */
            redriven: number;
            /**
             * Format: int64
             * @description The number of jobs that were refused, and are still dead.
             */
            refused: number;
            /** @description The result for each job. */
            results: components["schemas"]["RedriveResult"][];
        };
        RedriveRequest: {
            /** @description All dead jobs, instead of one. */
            all?: boolean;
            /** @description With all: the field next of the answer before. */
            before?: string;
            /**
             * Format: int64
             * @description The job.
             */
            jobId?: number;
            /**
             * Format: int64
             * @description With all: the maximum number of jobs, up to 1000. Defaults to 100.
             */
            limit?: number;
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
        };
        RedriveResult: {
            /**
             * @description Whether the job's work was restarted.
             * @example true
             */
            accepted: boolean;
            /** @description Why it was refused, for a person. */
            error?: string;
            /**
             * Format: int64
             * @description The dead job.
             */
            jobId: number;
            /**
             * @description Why it was refused, for a program.
             * @enum {string}
             */
            reason?: "not_found" | "active_run" | "moved_on";
            /** @description The run of the restarted work: a new run, or the run that is settled again. */
            runId?: string;
            /** @description Its thread. */
            threadId?: string;
        };
        RespondRequest: {
            /**
             * @description True: the call runs (again, if it parked itself). False: the model reads that it was denied.
             * @example true
             */
            approved: boolean;
            /** @description An object of arguments with which an approved call runs instead of its own. The tool must accept it. */
            arguments?: unknown;
            /** @description The digest of the INPUT_REQUIRED that was shown. An answer to anything else does not count. */
            digest?: string;
            /** @description Any JSON, for the tool. */
            payload?: unknown;
            /**
             * @description The reason, in up to 4096 bytes. The model reads it, and the record keeps it.
             * @example not on a Friday
             */
            reason?: string;
            /**
             * @description The thread that waits.
             * @example t1
             */
            threadId: string;
            /**
             * @description The call that waits, as INPUT_REQUIRED named it.
             * @example call_1
             */
            toolCallId: string;
        };
        RespondResult: {
            /**
             * @description Whether this answer counts.
             * @example true
             */
            delivered: boolean;
            /** @description Why the answer does not count, for a person. */
            error?: string;
            /**
             * @description Why the answer does not count, for a program.
             * @enum {string}
             */
            reason?: "already_answered" | "no_park" | "changed" | "same_approver" | "not_editable";
        };
        RestoreRequest: {
            /**
             * Format: int64
             * @description The branch to restore.
             * @example 7
             */
            branchId: number;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
        };
        RestoreResult: {
            /**
             * @description Whether the branch is shown again.
             * @example true
             */
            accepted: boolean;
            /**
             * Format: int64
             * @description The branch of the request. After a restore it is no longer a branch.
             * @example 7
             */
            branchId: number;
            /**
             * Format: int64
             * @description The branch that what was shown in its place has become. Left out: nothing was.
             */
            droppedBranchId?: number;
            /** @description Why the branch was not restored, for a person. */
            error?: string;
            /**
             * @description Why the branch was not restored, for a program.
             * @enum {string}
             */
            reason?: "active_run" | "not_found" | "not_restorable";
        };
        ResumeEntry: {
            /** @description The interrupt. */
            interruptId: string;
            /** @description The answer, in the form of the interrupt's responseSchema: approved, and a payload. */
            payload?: unknown;
            /**
             * @description resolved, or cancelled: cancelled denies.
             * @enum {string}
             */
            status: "resolved" | "cancelled";
        };
        Revision: {
            /** @description The agent. */
            agent: components["schemas"]["AgentContent"];
            /**
             * Format: date-time
             * @description When a worker first used it.
             */
            firstUsedAt: string;
            /**
             * @description The id: a hash of the agent.
             * @example rev_6f1d0c
             */
            id: string;
        };
        RevisionList: {
            /** @description The value of before for the next page. Left out: this is the last page. */
            next?: string;
            /** @description The revisions by the agents' names, and of an agent the last one first. */
            revisions: components["schemas"]["RevisionSummary"][];
        };
        RevisionSummary: {
            /** @description The name of the agent. */
            agent: string;
            /**
             * Format: date-time
             * @description When a worker first used it.
             */
            firstUsedAt: string;
            /**
             * @description The id: a hash of the agent.
             * @example rev_6f1d0c
             */
            id: string;
            /** @description The name of the model. */
            model: string;
            /**
             * Format: int64
             * @description How many tools the agent has.
             */
            tools: number;
        };
        Run: {
            /** @description The agent that runs. */
            agent: string;
            /**
             * Format: int64
             * @description How many attempts failed since the last finished step.
             */
            attempts: number;
            /**
             * Format: int64
             * @description The part of them that came from a cache.
             */
            cachedInputTokens: number;
            /**
             * Format: int64
             * @description The run's budget, in millionths of the currency.
             */
            costBudgetMicros?: number;
            /**
             * Format: int64
             * @description The cost of the run and of all runs nested in it, in millionths of the currency.
             */
            costMicros?: number;
            /**
             * @description The currency of costMicros. Left out: no price is known.
             * @example USD
             */
            currency?: string;
            /**
             * Format: int64
             * @description Zero for a run that was started over HTTP.
             */
            depth: number;
            /**
             * Format: int64
             * @description How long it ran.
             */
            durationMs?: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            enqueuedAt?: string;
            /** @description Why it failed, for a person. */
            error?: string;
            /** @description The questions that nobody answered in time. Left out: none. */
            expired?: components["schemas"]["Expired"];
            /** @description The run's id. */
            id: string;
            /**
             * Format: int64
             * @description Tokens that the model read, cached ones included.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description The cap that the start asked for.
             */
            maxSteps?: number;
            /** @description The model that was asked for, or the agent's. */
            model: string;
            /**
             * Format: int64
             * @description Tokens that the model wrote.
             */
            outputTokens: number;
            /** @description The run that spawned this one. Left out: the run is not nested. */
            parentRunId?: string;
            /** @description The tool call that spawned the run. */
            parentToolCallId?: string;
            /** @description The brief of a nested run, cut short. */
            prompt?: string;
            /**
             * Format: int64
             * @description How long it waited for a worker.
             */
            queuedMs?: number;
            /** @description The result that a nested run returned to the run that spawned it. */
            result?: components["schemas"]["NestedResult"];
            /**
             * Format: date-time
             * @description When a worker first claimed it.
             */
            startedAt: string;
            /** @description The subject who started the run, from the credentials. */
            startedBy?: string;
            /** @description The state of the run. */
            state: string;
            /**
             * Format: int64
             * @description How many steps are finished.
             */
            steps: number;
            /** @description Why it ended. */
            stopReason?: string;
            /** @description Its thread. */
            threadId: string;
            /**
             * Format: int64
             * @description How many tokens the run and its nested runs may use. Left out: any number.
             */
            tokenBudget?: number;
            /**
             * Format: int64
             * @description How often it may call tools.
             */
            toolCallBudget?: number;
            /**
             * Format: int64
             * @description Both.
             */
            totalTokens: number;
            /**
             * Format: int64
             * @description How long the run may execute, in milliseconds.
             */
            wallTimeMs?: number;
        };
        RunAgentInput: {
            /** @description Information of the client for the run that this starts. The model reads it as data. */
            context?: components["schemas"]["InputContext"][];
            /** @description An object. Its key spool may have agent, model, maxSteps, whenBusy, providerOptions and onDisconnect for the run. */
            forwardedProps?: unknown;
            /** @description The conversation as the client has it. If the last message is the user's, it is the prompt; one that the thread has already is answered again. */
            messages: components["schemas"]["InputMessage"][];
            /**
             * @description The version of AG-UI that the client speaks. Left out, or before 1.0: a stopped run ends with the outcome success and the finishReason cancelled.
             * @example 1.0
             */
            protocolVersion?: string;
            /** @description Answers to all open questions of the thread. With it, the messages do not count. */
            resume?: components["schemas"]["ResumeEntry"][];
            /**
             * @description The client's name for this run. A tenant may use one once.
             * @example r1
             */
            runId: string;
            /** @description The client's state. In an object, the key spool is kept up to date with the state of the thread. */
            state?: unknown;
            /**
             * @description The thread. If it does not exist, its first turn creates it.
             * @example t1
             */
            threadId: string;
            /** @description Tools that the client executes itself. The model gets them for the run that this starts. A call of one ends the answer, and the client sends the result as a message with the role tool. */
            tools?: components["schemas"]["InputTool"][];
        };
        RunDetail: {
            /** @description The runs that it has spawned. */
            children: components["schemas"]["Run"][];
            /** @description The run that has read the message of a steer. Left out: none, or the run is no steer. */
            delivered?: components["schemas"]["Delivered"];
            /** @description The run's entries of the thread's record. */
            entries: components["schemas"]["Event"][];
            /** @description The JSON value that the run was asked for. Left out: the run was not asked for one, or has not completed. */
            output?: unknown;
            /** @description Its waits for an answer. */
            parks: components["schemas"]["ParkDetail"][];
            /** @description The runs that wait for the thread while the run has it, without their turns. Left out: none. */
            queue?: components["schemas"]["QueuedRun"][];
            /** @description The revision of the run's agent in the latest segment. Left out: no worker has claimed the run. */
            revision?: string;
            /** @description The run. */
            run: components["schemas"]["Run"];
            /** @description The steps, including the unfinished one. */
            steps: components["schemas"]["StepRecord"][];
            /** @description Each call of a model, including those of nested runs. */
            usage: components["schemas"]["UsageRow"][];
            /** @description The limit of a model's provider that it waits for, in a sentence for a person. Left out: it waits for none. */
            waitsFor?: string;
        };
        RunEnded: {
            /** @description Why, for a person. */
            error?: string;
            /** @description The questions of the run that nobody answered in time. Left out: none, or the run goes on. */
            expired?: components["schemas"]["Expired"];
            /** @description The JSON value that the run was asked for, of up to 64 KiB. Left out: it has none, or a larger one, which the outcome of the run has. */
            output?: unknown;
            /**
             * Format: int64
             * @description The time until the next attempt, in milliseconds. Left out: it follows at once, or never.
             */
            retryAfterMs?: number;
            /** @description The run. */
            runId: string;
            /**
             * Format: int64
             * @description The segment, from 1.
             */
            segment: number;
            /**
             * @description How it ended.
             * @enum {string}
             */
            status: "finished" | "parked" | "stopped" | "error" | "lost";
            /** @description What cut a finished run short. Left out: nothing, or the run is not finished. */
            stopReason?: string;
            /** @description The segment's stream. */
            streamId: string;
        };
        /** @description The segment is over. */
        RunEndedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["RunEnded"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_ENDED";
        };
        /** @description The segment failed or was lost. The last item. */
        RunErrorItem: {
            /** @description Why, for a person. */
            error: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * Format: int64
             * @description The time until the next attempt, in milliseconds. Left out: it follows at once, or never.
             */
            retryAfterMs?: number;
            /**
             * @description How it ended.
             * @enum {string}
             */
            status: "error" | "lost";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_ERROR";
        };
        /** @description The segment finished, parked or was stopped. The last item. */
        RunFinishedItem: {
            /** @description The cost of the whole run. Left out: no price is known. */
            costs?: components["schemas"]["Money"][];
            /** @description The questions of the run that nobody answered in time. Left out: none, or the run goes on. */
            expired?: components["schemas"]["Expired"];
            /** @description The run's stop reason. Left out: nothing cut the run short. */
            finishReason?: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The JSON value that the run was asked for, of up to 64 KiB. Left out: it has none, or a larger one, which the outcome of the run has. */
            output?: unknown;
            /**
             * @description How it ended.
             * @enum {string}
             */
            status: "finished" | "parked" | "stopped";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_FINISHED";
            /** @description The tokens of the whole run. */
            usage?: components["schemas"]["TokenCount"];
        };
        RunList: {
            /** @description The value of before for the next page. Left out: this is the last page. */
            next?: string;
            /** @description The runs, the last accepted one first. */
            runs: components["schemas"]["Run"][];
        };
        RunMark: {
            /** @description The questions of the run that nobody answered in time. */
            expired: components["schemas"]["Expired"];
        };
        RunOutcome: {
            /** @description The cost of the run and of all runs nested in it. Left out: no price is known. */
            costs?: components["schemas"]["Money"][];
            /** @description The run that has read the message of a steer. Left out: none, or the run is no steer. */
            delivered?: components["schemas"]["Delivered"];
            /**
             * Format: date-time
             * @description When it ended. Left out: it has not.
             */
            endedAt?: string;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            enqueuedAt?: string;
            /** @description Why it failed, for a person. */
            error?: string;
            /** @description The questions of the run that nobody answered in time. Left out: none. */
            expired?: components["schemas"]["Expired"];
            /** @description The last saved answer of the model. Left out: there is none yet, or an edit or a rollback has replaced the turn. */
            message?: components["schemas"]["Message"];
            /** @description The JSON value that the run was asked for. Left out: the run was not asked for one, or has not completed. */
            output?: unknown;
            /** @description The questions that somebody must answer before the run continues. If the list is empty, the run has ended or continues by itself. */
            parks: components["schemas"]["InputRequired"][];
            /**
             * Format: int64
             * @description The run's position in the queue of the thread, from 1. Left out: it does not wait.
             */
            position?: number;
            /**
             * @description The run.
             * @example r1
             */
            runId: string;
            /**
             * Format: date-time
             * @description When a worker first claimed it. Left out: no worker has.
             */
            startedAt?: string;
            /**
             * @description The state of the run. COMPLETED, CANCELLED and FAILED mean that it is over.
             * @enum {string}
             */
            state: "QUEUED" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "CANCELLED" | "FAILED";
            /**
             * Format: int64
             * @description How many steps are finished.
             */
            steps: number;
            /**
             * @description Why it ended. Left out: it has not.
             * @example completed
             */
            stopReason?: string;
            /** @description The text of message: the answer, once the run is over. */
            text: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
            /** @description The usage of the run and of all runs nested in it. */
            usage: components["schemas"]["TokenCount"];
        };
        RunRefusal: {
            /** @description Always false. */
            accepted?: boolean;
            /**
             * @description The error's code: queue_full with the fields below, or unavailable.
             * @example queue_full
             */
            code: string;
            /**
             * @description The error, for a person.
             * @example Too many runs wait for a worker
             */
            error: string;
            /**
             * @description The same word as code.
             * @enum {string}
             */
            reason?: "queue_full";
            /** @description The thread. */
            threadId?: string;
        };
        RunRefused: {
            /** @description Why, for a person. */
            error: string;
            /** @description Why, for a program. */
            reason: string;
            /** @description The run that was refused. */
            runId?: string;
        };
        /** @description A worker claimed a run and refused it. */
        RunRefusedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["RunRefused"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_REFUSED";
        };
        RunRequest: {
            /** @description The agent that runs. Defaults to the server's first. */
            agent?: string;
            /** @description Images and files of the turn: up to 8, by http, https or data URL. */
            attachments?: components["schemas"]["Attachment"][];
            /** @description Your own id for the turn. Events and messages have it too. */
            clientMessageId?: string;
            /**
             * Format: int64
             * @description The run's budget, in millionths of the server's currency. Zero: the agent's budget.
             */
            costBudgetMicros?: number;
            /** @description The user turn to replace. It and all messages after it leave the view. */
            editMessageId?: string;
            /** @description The labels of a thread that the start makes, up to 16. */
            labels?: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description A maximum of steps below the agent's own. Zero: the agent's own.
             */
            maxSteps?: number;
            /** @description The model. Defaults to the agent's. */
            model?: string;
            /** @description Asks for a JSON value as the answer, instead of the agent's own. An agent may refuse it. */
            output?: components["schemas"]["OutputSchema"];
            /**
             * @description The user's turn.
             * @example Hello
             */
            prompt: string;
            /** @description Fields of the request to the model's provider. The agent's configuration says which are allowed. */
            providerOptions?: unknown;
            /**
             * @description Your own id for the run. A tenant may use an id once. Defaults to a new id.
             * @example r1
             */
            runId?: string;
            /**
             * Format: date-time
             * @description When the run starts, at most 366 days ahead. Until then there is no run, but a start that waits, with the same id: see getDelayedStart. It meets a run of the thread when it comes due, with the rights that you have then. A time at which your credentials have ended is refused. A time in the past is now. Left out: now.
             */
            startAt?: string;
            /**
             * @description The thread. If it does not exist, it is created. Left out: a new thread. It must not be empty.
             * @example t1
             */
            threadId?: string;
            /** @description The title, if the start creates the thread. Defaults to the beginning of the prompt. */
            title?: string;
            /**
             * Format: int64
             * @description How many tokens the run and its nested runs may use. Zero: the agent's budget.
             */
            tokenBudget?: number;
            /**
             * Format: int64
             * @description How often it may call tools. Zero: the agent's budget.
             */
            toolCallBudget?: number;
            /**
             * Format: int64
             * @description How long the run may execute, in milliseconds, without its waits. Zero: the agent's budget.
             */
            wallTimeMs?: number;
            /**
             * @description A URL that is told of the events of the run. The configuration has to list its host.
             * @example https://hooks.example.com/spool
             */
            webhook?: string;
            /**
             * @description What to do while the thread has another run. Defaults to the agent's, or reject. The other options of a steer, such as output, count only if its message becomes a run of its own.
             * @enum {string}
             */
            whenBusy?: "reject" | "enqueue" | "latest" | "interrupt" | "rollback" | "steer";
        };
        RunResult: {
            /**
             * @description Whether the run was accepted.
             * @example true
             */
            accepted: boolean;
            /** @description Why the run was refused, for a person. */
            error?: string;
            /**
             * Format: int64
             * @description The run's position in the queue of the thread, from 1. Left out: it does not wait.
             */
            position?: number;
            /**
             * @description Why the run was refused, for a program.
             * @enum {string}
             */
            reason?: "active_run" | "queue_full" | "run_id_used" | "key_reused" | "not_found" | "not_editable";
            /**
             * @description The run that was accepted, or that the Idempotency-Key belongs to.
             * @example r1
             */
            runId?: string;
            /**
             * Format: date-time
             * @description When the run starts. Left out: it has started.
             */
            startAt?: string;
            /**
             * @description QUEUED for an accepted run. Left out: there is no run, or not yet.
             * @example QUEUED
             */
            state?: string;
            /** @description The active run that the message is for. Left out: the start is no steer, or the thread was free. */
            steers?: string;
            /**
             * @description The thread, also a new one.
             * @example t1
             */
            threadId: string;
            /** @description What was ignored of the request, for a person. Left out: nothing. */
            warning?: string;
        };
        RunStarted: {
            /**
             * Format: date-time
             * @description When the run was accepted.
             */
            enqueuedAt?: string;
            /** @description The revision of the agent that the segment uses. Left out: the segment is of an older version. */
            revision?: string;
            /** @description The run. */
            runId: string;
            /**
             * Format: int64
             * @description The segment, from 1.
             */
            segment: number;
            /** @description The segment's stream. */
            streamId: string;
        };
        /** @description A worker claimed the run: a reader moves to the stream. */
        RunStartedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["RunStarted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_STARTED";
        };
        /** @description The stream opens. */
        RunStartedItem: {
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The run. */
            runId: string;
            /**
             * Format: int64
             * @description The segment, from 1.
             */
            segment: number;
            /** @description The segment's stream. */
            streamId: string;
            /** @description The thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "RUN_STARTED";
        };
        Schedule: {
            /** @description The agent that runs. Left out: the server's first. */
            agent?: string;
            /**
             * Format: date-time
             * @description The only due time.
             */
            at?: string;
            /**
             * Format: int64
             * @description The budget of each run, in millionths of the server's currency. Zero: the agent's budget.
             */
            costBudgetMicros?: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /**
             * @description A cron pattern of five fields: minute, hour, day of the month, month and day of the week.
             * @example 0 9 * * 1-5
             */
            cron?: string;
            /**
             * Format: date-time
             * @description When the right of its maker ends. Left out: not known.
             */
            endsAt?: string;
            /**
             * @description A duration between two due times, at least a minute, counted in real time.
             * @example 15m
             */
            every?: string;
            /**
             * Format: date-time
             * @description The first due time of every. Left out: one duration after it was made.
             */
            from?: string;
            /** @description Whether the configuration has it, so that it cannot be changed or removed here. */
            fromFile?: boolean;
            /**
             * @description A due time is missed if its tick comes later than this, jitter apart: a second to 30 days. Left out: a minute.
             * @example 5m
             */
            grace?: string;
            /**
             * @description The rule as an English sentence, or as its pattern if there is no short sentence.
             * @example at 09:00 on Monday to Friday (Europe/Berlin)
             */
            inWords: string;
            /**
             * @description Ticks come up to this duration later than they are due, less than a day. Left out: not later.
             * @example 30s
             */
            jitter?: string;
            /** @description The labels of a thread that a tick makes. */
            labels?: {
                [key: string]: string;
            };
            /** @description The last tick, also one of run now. Left out: there was none. */
            last?: components["schemas"]["ScheduleTick"];
            /**
             * Format: date-time
             * @description The last due time that was seen to. Left out: none was.
             */
            lastDueAt?: string;
            /** @description The subject as which its runs start. */
            madeBy?: string;
            /**
             * @description Which missed due times are started. Left out: latest.
             * @enum {string}
             */
            missed?: "skip" | "latest" | "all";
            /** @description The model. Left out: the agent's. */
            model?: string;
            /**
             * @description Names the schedule in its tenant.
             * @example nightly-report
             */
            name: string;
            /** @description Up to five next due times. */
            next?: string[];
            /**
             * Format: date-time
             * @description Its next due time. Left out: nothing comes due.
             */
            nextAt?: string;
            /**
             * @description What a tick does while a run is active: skip, or a value of whenBusy. Left out: skip, which starts nothing while the run of the last tick is active.
             * @enum {string}
             */
            overlap?: "skip" | "reject" | "enqueue" | "latest" | "interrupt" | "rollback" | "steer";
            /** @description Whether it is paused: nothing comes due. */
            paused?: boolean;
            /**
             * Format: date-time
             * @description Since when it is paused.
             */
            pausedAt?: string;
            /** @description Why it is paused, for a person. */
            pausedReason?: string;
            /**
             * @description The text of the user turn.
             * @example Write the report of yesterday.
             */
            prompt: string;
            /** @description The thread of all runs, which the first one makes. Left out: a new thread for each run. */
            threadId?: string;
            /** @description The title of a thread that a tick makes. */
            title?: string;
            /**
             * Format: int64
             * @description How many tokens each run and its nested runs may use. Zero: the agent's budget.
             */
            tokenBudget?: number;
            /**
             * Format: int64
             * @description How often each run may call tools. Zero: the agent's budget.
             */
            toolCallBudget?: number;
            /**
             * Format: int64
             * @description How long each run may execute, in milliseconds, without its waits. Zero: the agent's budget.
             */
            wallTimeMs?: number;
            /**
             * @description The time zone of cron, of the IANA database. A cron needs one.
             * @example Europe/Berlin
             */
            zone?: string;
        };
        ScheduleChange: {
            /** @description The agent. */
            agent?: string;
            /**
             * Format: date-time
             * @description The only due time.
             */
            at?: string;
            /**
             * Format: int64
             * @description The budget of each run.
             */
            costBudgetMicros?: number;
            /** @description The pattern. */
            cron?: string;
            /** @description The duration. */
            every?: string;
            /**
             * Format: date-time
             * @description The first due time of every.
             */
            from?: string;
            /** @description From when on a due time is missed. */
            grace?: string;
            /** @description By how much ticks may come later. */
            jitter?: string;
            /** @description The labels of a thread that a tick makes. */
            labels?: {
                [key: string]: string;
            };
            /** @description Which missed due times are started. */
            missed?: string;
            /** @description The model. */
            model?: string;
            /** @description What a tick does while a run is active. */
            overlap?: string;
            /** @description The text of the user turn. */
            prompt?: string;
            /** @description The thread of all runs. Empty: a new one for each. */
            threadId?: string;
            /** @description The title of a thread that a tick makes. */
            title?: string;
            /**
             * Format: int64
             * @description The tokens of each run.
             */
            tokenBudget?: number;
            /**
             * Format: int64
             * @description The calls of each run.
             */
            toolCallBudget?: number;
            /**
             * Format: int64
             * @description The milliseconds of each run.
             */
            wallTimeMs?: number;
            /** @description The time zone of cron. */
            zone?: string;
        };
        ScheduleList: {
            /** @description The schedules by their names. Fewer than the limit: there are no more. */
            schedules: components["schemas"]["Schedule"][];
        };
        SchedulePause: {
            /**
             * @description Why, for a person, in up to 1000 bytes. Left out: no reason is shown.
             * @example The report moves to Mondays
             */
            reason?: string;
        };
        SchedulePreview: {
            /**
             * @description The rule as a short English sentence, or as its pattern if there is no short sentence.
             * @example at 09:00 on Monday to Friday (Europe/Berlin)
             */
            inWords: string;
            /** @description The next five due times, or fewer if no more follow. */
            next: string[];
        };
        ScheduleRequest: {
            /** @description The agent that runs. Left out: the server's first. */
            agent?: string;
            /**
             * Format: date-time
             * @description The only due time.
             */
            at?: string;
            /**
             * Format: int64
             * @description The budget of each run, in millionths of the server's currency. Zero: the agent's budget.
             */
            costBudgetMicros?: number;
            /**
             * @description A cron pattern of five fields: minute, hour, day of the month, month and day of the week.
             * @example 0 9 * * 1-5
             */
            cron?: string;
            /**
             * @description A duration between two due times, at least a minute, counted in real time.
             * @example 15m
             */
            every?: string;
            /**
             * Format: date-time
             * @description The first due time of every. Left out: one duration after it was made.
             */
            from?: string;
            /**
             * @description A due time is missed if its tick comes later than this, jitter apart: a second to 30 days. Left out: a minute.
             * @example 5m
             */
            grace?: string;
            /**
             * @description Ticks come up to this duration later than they are due, less than a day. Left out: not later.
             * @example 30s
             */
            jitter?: string;
            /** @description The labels of a thread that a tick makes. */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description Which missed due times are started. Left out: latest.
             * @enum {string}
             */
            missed?: "skip" | "latest" | "all";
            /** @description The model. Left out: the agent's. */
            model?: string;
            /**
             * @description An id that is unique in the tenant.
             * @example nightly-report
             */
            name: string;
            /**
             * @description What a tick does while a run is active: skip, or a value of whenBusy. Left out: skip, which starts nothing while the run of the last tick is active.
             * @enum {string}
             */
            overlap?: "skip" | "reject" | "enqueue" | "latest" | "interrupt" | "rollback" | "steer";
            /** @description Whether it begins paused. */
            paused?: boolean;
            /**
             * @description The text of the user turn.
             * @example Write the report of yesterday.
             */
            prompt: string;
            /** @description The thread of all runs, which the first one makes. Left out: a new thread for each run. */
            threadId?: string;
            /** @description The title of a thread that a tick makes. */
            title?: string;
            /**
             * Format: int64
             * @description How many tokens each run and its nested runs may use. Zero: the agent's budget.
             */
            tokenBudget?: number;
            /**
             * Format: int64
             * @description How often each run may call tools. Zero: the agent's budget.
             */
            toolCallBudget?: number;
            /**
             * Format: int64
             * @description How long each run may execute, in milliseconds, without its waits. Zero: the agent's budget.
             */
            wallTimeMs?: number;
            /**
             * @description The time zone of cron, of the IANA database. A cron needs one.
             * @example Europe/Berlin
             */
            zone?: string;
        };
        ScheduleRule: {
            /**
             * Format: date-time
             * @description The only due time.
             */
            at?: string;
            /**
             * @description A cron pattern of five fields: minute, hour, day of the month, month and day of the week.
             * @example 0 9 * * 1-5
             */
            cron?: string;
            /**
             * @description A duration between two due times, at least a minute, counted in real time.
             * @example 15m
             */
            every?: string;
            /**
             * Format: date-time
             * @description The first due time of every. Left out: one duration after it was made.
             */
            from?: string;
            /**
             * @description The time zone of cron, of the IANA database. A cron needs one.
             * @example Europe/Berlin
             */
            zone?: string;
        };
        ScheduleTick: {
            /**
             * Format: date-time
             * @description When it came.
             */
            at: string;
            /**
             * Format: int64
             * @description How many due times the line is about. Left out: one.
             */
            count?: number;
            /**
             * Format: date-time
             * @description When it was due. Left out: somebody asked for it. Of several due times that were missed, the last one.
             */
            dueAt?: string;
            /** @description Why nothing was started, for a person. */
            reason?: string;
            /**
             * @description What became of it.
             * @enum {string}
             */
            result: "started" | "refused" | "overlap" | "missed";
            /** @description The run that it started. */
            runId?: string;
            /**
             * Format: int64
             * @description Counts the ticks of a schedule, from 1.
             */
            seq: number;
            /** @description The thread of the run. */
            threadId?: string;
        };
        ScheduleTicks: {
            /** @description The lines, the last one first. The last 100 are kept. */
            ticks: components["schemas"]["ScheduleTick"][];
        };
        SignInRequest: {
            /**
             * @description The link of the call that waits: url in its arguments.
             * @example https://agents.example/oauth/sign-in?ticket=v1.0a1b2c3d.text
             */
            url: string;
        };
        SignInStart: {
            /**
             * Format: date-time
             * @description When the sign-in has to be done. After that, begin another one with the same link.
             */
            expiresAt: string;
            /** @description Where to send the browser that has the cookie: a page of the authorization server. */
            url: string;
        };
        Snapshot: {
            /** @description The entries of the unfinished run, without MESSAGES_DROPPED and those about calls that no longer wait. */
            activeEvents: components["schemas"]["Event"][];
            /** @description Only in the snapshot of one run: the message before those of the run. */
            afterMessageId?: string;
            /**
             * Format: int64
             * @description The last seq of the record, -1 when there is none.
             */
            lastEventSeq: number;
            /** @description Its messages. */
            messages: components["schemas"]["Message"][];
            /** @description The runs that wait for the thread, the next one first. Left out: none waits. */
            queue?: components["schemas"]["QueuedRun"][];
            /** @description Its newest runs, the newest first. */
            runs: components["schemas"]["Run"][];
            /** @description The run stream of the latest segment, without what the messages have. Null: there is none. */
            stream: components["schemas"]["StreamSnapshot"] | null;
            /** @description The thread. */
            thread: components["schemas"]["Thread"];
        };
        SnapshotDelta: {
            /**
             * Format: date-time
             * @description When the commit happened.
             */
            at: string;
            /** @description The questions and waits that are new or have another state. */
            parks?: components["schemas"]["DeltaPark"][];
            /** @description The run that has the thread, or had it last. It comes with the thread. */
            runId?: string;
            /** @description The runs that are new or have changed. */
            runs?: components["schemas"]["DeltaRun"][];
            /**
             * Format: int64
             * @description The last seq of the record after the commit. Zero: the record is empty.
             */
            seq: number;
            /** @description What the thread's row has now. Left out: it did not change. */
            thread?: components["schemas"]["DeltaThread"];
            /**
             * Format: int64
             * @description Its number among the deltas of the thread, from 1 without gaps.
             */
            version: number;
            /** @description What happened to the view of messages, in order. */
            view?: components["schemas"]["ViewChange"][];
        };
        SnapshotFrame: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "snapshot";
            /** @description The snapshot that replaces missed frames. */
            snapshot: components["schemas"]["Snapshot"];
        };
        /** @description A source of the answer. */
        Source: {
            /** @description The pieces of the message's text that it supports, in order. Left out: it is not known which. */
            spans?: components["schemas"]["Span"][];
            /** @description The title, or the name of the file. Left out: none, and there is a URL. */
            title?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "SOURCE";
            /** @description The address of the page, with http or https. Left out: it is a document, or has no address to open. */
            url?: string;
        };
        /** @description A source of the answer. */
        SourceItem: {
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The pieces of the message's text that it supports, in order. Left out: it is not known which. */
            spans?: components["schemas"]["Span"][];
            /** @description The title, or the name of the file. Left out: none, and there is a URL. */
            title?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "SOURCE";
            /** @description The address of the page, with http or https. Left out: it is a document, or has no address to open. */
            url?: string;
        };
        SourcePart: {
            /** @description The pieces of the message's text that it supports, in order. Left out: it is not known which. */
            spans?: components["schemas"]["Span"][];
            /** @description The title, or the name of the file. Left out: none, and there is a url. */
            title?: string;
            /** @description The call's id. */
            toolCallId?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "source";
            /** @description The address of the page, with http or https. Left out: it is a document, or has no address to open. */
            url?: string;
        };
        Span: {
            /**
             * Format: int64
             * @description The character behind the last one, counted alike.
             */
            end: number;
            /**
             * Format: int64
             * @description The first character, counted in Unicode code points of the message's text parts joined, from 0.
             */
            start: number;
        };
        SpawnContent: {
            /**
             * Format: int64
             * @description How many nested runs work at once, at each depth.
             */
            maxConcurrent: number;
            /**
             * Format: int64
             * @description How deep runs may be nested.
             */
            maxDepth: number;
            /**
             * Format: int64
             * @description The bound of the steps of a nested run without a bound of its own.
             */
            maxSteps: number;
            /** @description Whether the model may make up agents. */
            open?: boolean;
            /** @description The agents that the model can call, by name. */
            profiles: components["schemas"]["ProfileContent"][];
            /**
             * Format: int64
             * @description The bound of a nested run's answer, in characters.
             */
            resultCap: number;
        };
        StartedRun: {
            /**
             * @description Always true.
             * @example true
             */
            accepted: boolean;
            /** @description The cost of the run and of all runs nested in it. Left out: no price is known. */
            costs?: components["schemas"]["Money"][];
            /** @description The run that has read the message of a steer. Left out: none, or the run is no steer. */
            delivered?: components["schemas"]["Delivered"];
            /**
             * Format: date-time
             * @description When it ended. Left out: it has not.
             */
            endedAt?: string;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            enqueuedAt?: string;
            /** @description Why it failed, for a person. */
            error?: string;
            /** @description The questions of the run that nobody answered in time. Left out: none. */
            expired?: components["schemas"]["Expired"];
            /** @description The last saved answer of the model. Left out: there is none yet, or an edit or a rollback has replaced the turn. */
            message?: components["schemas"]["Message"];
            /** @description The JSON value that the run was asked for. Left out: the run was not asked for one, or has not completed. */
            output?: unknown;
            /** @description The questions that somebody must answer before the run continues. If the list is empty, the run has ended or continues by itself. */
            parks: components["schemas"]["InputRequired"][];
            /**
             * Format: int64
             * @description The run's position in the queue of the thread, from 1. Left out: it does not wait.
             */
            position?: number;
            /**
             * @description The run.
             * @example r1
             */
            runId: string;
            /**
             * Format: date-time
             * @description When a worker first claimed it. Left out: no worker has.
             */
            startedAt?: string;
            /**
             * @description The state of the run. COMPLETED, CANCELLED and FAILED mean that it is over.
             * @enum {string}
             */
            state: "QUEUED" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "CANCELLED" | "FAILED";
            /**
             * Format: int64
             * @description How many steps are finished.
             */
            steps: number;
            /**
             * @description Why it ended. Left out: it has not.
             * @example completed
             */
            stopReason?: string;
            /** @description The text of message: the answer, once the run is over. */
            text: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
            /** @description The usage of the run and of all runs nested in it. */
            usage: components["schemas"]["TokenCount"];
        };
        StateChange: {
            /** @description The cost. Left out: no price is known. */
            costs?: components["schemas"]["Money"][];
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string;
            /**
             * Format: date-time
             * @description When it was accepted.
             */
            enqueuedAt?: string;
            /** @description Why it failed, for a person. */
            error?: string;
            /** @description The questions of the run that nobody answered in time. Left out: none. */
            expired?: components["schemas"]["Expired"];
            /** @description The runs that wait for the thread, the next one first. */
            queue?: components["schemas"]["QueuedRun"][];
            /** @description The run. */
            runId?: string;
            /**
             * Format: date-time
             * @description When a worker first claimed it.
             */
            startedAt?: string;
            /**
             * @description The state of the thread.
             * @enum {string}
             */
            state: "IDLE" | "QUEUED" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "CANCELLED" | "FAILED";
            /** @description Why it ended. */
            stopReason?: string;
            /**
             * Format: int64
             * @description How many tokens it used.
             */
            tokensUsed?: number;
            /** @description The tokens by kind. */
            usage?: components["schemas"]["TokenCount"];
        };
        /** @description The state of the thread. A notice. */
        StateChangeEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["StateChange"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STATE_CHANGE";
        };
        Steered: {
            /** @description The client's own name for the turn. */
            clientMessageId?: string;
            /**
             * Format: date-time
             * @description When the steer was accepted.
             */
            enqueuedAt?: string;
            /** @description The user turn. */
            messageId: string;
            /** @description The run that reads the message. */
            runId: string;
            /** @description The run of the start that sent the message. It is over. */
            steerRunId: string;
            /**
             * Format: int64
             * @description How many steps of the run were finished.
             */
            steps: number;
        };
        /** @description A message was put into the active run. */
        SteeredEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["Steered"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STEERED";
        };
        /** @description Everything that its agent said before is saved. */
        StepFinishedItem: {
            /** @description The nested run. Null: the run itself. */
            agentId: string | null;
            /** @description Why the model stopped. */
            finishReason: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * Format: int64
             * @description Counts from 1.
             */
            step: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STEP_FINISHED";
            /** @description The tokens of the step. */
            usage: components["schemas"]["TokenCount"];
        };
        StepRecord: {
            /** @description The agent. */
            agent: string;
            /**
             * Format: date-time
             * @description When the model's answer was complete.
             */
            at: string;
            /**
             * Format: int64
             * @description How often the model was called.
             */
            attempts: number;
            /**
             * Format: int64
             * @description The part of them that came from a cache.
             */
            cachedInputTokens: number;
            /** @description The tool calls that were scheduled or had to wait. */
            calls: components["schemas"]["CallRecord"][];
            /**
             * Format: int64
             * @description The time since the answer before, or since a worker claimed the run.
             */
            durationMs: number;
            /**
             * Format: int64
             * @description The number of the step, from 1.
             */
            index: number;
            /**
             * Format: int64
             * @description Tokens that models read, cached ones included.
             */
            inputTokens: number;
            /**
             * @description How the last failed attempt ended.
             * @enum {string}
             */
            outcome: "finished" | "aborted" | "error" | "lost";
            /**
             * Format: int64
             * @description Tokens that models wrote.
             */
            outputTokens: number;
            /** @description The run. */
            runId: string;
            /** @description Its thread. */
            threadId: string;
            /**
             * Format: int64
             * @description Both.
             */
            totalTokens: number;
        };
        StopResult: {
            /**
             * @description Whether the run stops.
             * @example true
             */
            accepted: boolean;
            /** @description Why it was refused, for a person. */
            error?: string;
            /**
             * @description Why it was refused, for a program.
             * @enum {string}
             */
            reason?: "not_active";
        };
        StorageLimitReached: {
            /**
             * Format: int64
             * @description How many bytes the tenant may store.
             */
            bytesLimit: number;
        };
        /** @description The tenant stores as many bytes as it may. */
        StorageLimitReachedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["StorageLimitReached"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "STORAGE_LIMIT_REACHED";
        };
        StreamFrame: {
            /** @description The item. */
            item: components["schemas"]["Item"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "stream";
            /** @description The stream. */
            streamId: string;
        };
        StreamSnapshot: {
            /** @description Its last item, once it has ended. Null: it is open. */
            end: components["schemas"]["Item"] | null;
            /** @description Its items, in order. */
            items: components["schemas"]["Item"][];
            /** @description The offset of its last item. */
            offset: string | null;
            /** @description The run that writes it. */
            runId: string;
            /** @description The stream's id. */
            streamId: string;
        };
        StreamToken: {
            /**
             * Format: date-time
             * @description When the token expires. The streams that it opened end then too.
             */
            expiresAt: string;
            /** @description The value for the parameter token of the stream. */
            token: string;
        };
        StreamTokenRequest: {
            /**
             * @description The thread of the stream.
             * @example t1
             */
            threadId: string;
        };
        /** @description An item of a nested run. */
        SubagentEventItem: {
            /** @description The nested run's item, without an offset. */
            event: components["schemas"]["SubagentItem"];
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The nested run. */
            subagentId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "SUBAGENT_EVENT";
        };
        /** @description A nested run has ended. */
        SubagentFinishedItem: {
            /** @description Why it failed. Left out: it did not. */
            error?: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * @description How it ended.
             * @enum {string}
             */
            status: "completed" | "failed" | "cancelled";
            /** @description The nested run. */
            subagentId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "SUBAGENT_FINISHED";
        };
        /** @description An item of a nested run, by its type. It has no offset. */
        SubagentItem: components["schemas"]["TextMessageStart"] | components["schemas"]["TextMessageContent"] | components["schemas"]["TextMessageEnd"] | components["schemas"]["ReasoningStart"] | components["schemas"]["ReasoningContent"] | components["schemas"]["ReasoningEnd"] | components["schemas"]["ToolCallStart"] | components["schemas"]["ToolCallArgs"] | components["schemas"]["ToolCallEnd"] | components["schemas"]["ToolCallResult"] | components["schemas"]["File"] | components["schemas"]["Source"];
        /** @description A nested run begins or continues. */
        SubagentStartedItem: {
            /**
             * Format: int64
             * @description 1 for a run that the main agent spawned.
             */
            depth: number;
            /** @description The agent. */
            name: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The run that spawned it. */
            parentRunId?: string;
            /** @description The tool call that spawned it. */
            parentToolCallId?: string;
            /** @description The nested run's id, and the agentId of its messages. */
            subagentId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "SUBAGENT_STARTED";
        };
        Taken: {
            /** @description Always true. */
            accepted: boolean;
        };
        /** @description A piece of a text. */
        TextMessageContent: {
            /** @description The text to append. */
            delta: string;
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_CONTENT";
        };
        /** @description A piece of a text. */
        TextMessageContentItem: {
            /** @description The text to append. */
            delta: string;
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_CONTENT";
        };
        /** @description A text ends. */
        TextMessageEnd: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_END";
        };
        /** @description A text ends. */
        TextMessageEndItem: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_END";
        };
        /** @description A text begins. */
        TextMessageStart: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_START";
        };
        /** @description A text begins. */
        TextMessageStartItem: {
            /** @description The block's id in its stream. It is not the id of a saved message. */
            messageId: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description Who speaks. Only the start of a text has it. */
            role?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TEXT_MESSAGE_START";
        };
        TextPart: {
            /** @description The text. Left out: none. */
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
        };
        Thread: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /** @description The questions of its last run that nobody answered in time. Left out: none. */
            expired?: components["schemas"]["Expired"];
            /**
             * @description The thread's id.
             * @example t1
             */
            id: string;
            /** @description The labels of the thread. */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description The model of the last run.
             * @example demo
             */
            model: string;
            /**
             * @description The subject who made it. Left out: not known.
             * @example ann
             */
            owner?: string;
            /**
             * @description The state of the thread's run.
             * @enum {string}
             */
            state: "IDLE" | "QUEUED" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "CANCELLED" | "FAILED";
            /**
             * @description The title: the beginning of the first prompt, or a title that somebody set.
             * @example Hello
             */
            title: string;
            /**
             * Format: date-time
             * @description When it changed last.
             */
            updatedAt: string;
        };
        ThreadChange: {
            /** @description Labels to set, by key; null removes a label. Other labels stay. */
            labels?: {
                [key: string]: string | null;
            };
            /** @description The new owner. Only with the scope admin. */
            owner?: string;
            /**
             * @description The thread.
             * @example t1
             */
            threadId: string;
            /** @description The new title, of 1 to 200 characters. Left out: it stays. */
            title?: string;
        };
        ThreadDeleted: {
            /** @description The thread. */
            threadId: string;
        };
        /** @description The thread is gone. A notice, and the last frame. */
        ThreadDeletedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["ThreadDeleted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "THREAD_DELETED";
        };
        ThreadFrame: {
            /** @description An entry of the record, or a notice. */
            event: components["schemas"]["Event"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "thread";
        };
        ThreadList: {
            /** @description The value of before for the next page. Left out: this is the last page. */
            next?: string;
            /** @description The threads, the last updated one first. */
            threads: components["schemas"]["Thread"][];
        };
        ThreadUsage: {
            /** @description How full the model's window is. */
            context: components["schemas"]["ContextUsage"];
            /** @description The model of the last call. */
            model: string;
            /** @description The tokens of the thread. */
            tokens: components["schemas"]["UsageTotals"];
        };
        TimeBudgetExhausted: {
            /** @description The nested run. Null: the run itself. */
            agentId: string | null;
            /**
             * Format: int64
             * @description How long they might work on it.
             */
            wallTimeBudgetMs: number;
            /**
             * Format: int64
             * @description How long workers have worked on the run, in milliseconds.
             */
            wallTimeMs: number;
        };
        /** @description The run has used up its time. */
        TimeBudgetExhaustedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["TimeBudgetExhausted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TIME_BUDGET_EXHAUSTED";
        };
        TimeLimitReached: {
            /**
             * Format: int64
             * @description How long they may work on it.
             */
            wallTimeLimitMs: number;
            /**
             * Format: int64
             * @description How long workers have worked on the run, in milliseconds.
             */
            wallTimeMs: number;
        };
        /** @description The run executed for as long as any run may. */
        TimeLimitReachedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["TimeLimitReached"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TIME_LIMIT_REACHED";
        };
        TokenBudgetExhausted: {
            /** @description The nested run. Null: the run itself. */
            agentId: string | null;
            /**
             * Format: int64
             * @description How many tokens it might use.
             */
            tokenBudget: number;
            /**
             * Format: int64
             * @description How many tokens it used.
             */
            tokensUsed: number;
        };
        /** @description The run has used up its tokens. */
        TokenBudgetExhaustedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["TokenBudgetExhausted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOKEN_BUDGET_EXHAUSTED";
        };
        TokenCount: {
            /**
             * Format: int64
             * @description The part of them that came from a cache.
             */
            cachedInputTokens: number;
            /**
             * Format: int64
             * @description Tokens that models read, cached ones included.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Tokens that models wrote.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Both.
             */
            totalTokens: number;
        };
        /** @description A piece of the arguments, as JSON text. */
        ToolCallArgs: {
            /** @description The text to append to the arguments. */
            delta: string;
            /** @description The call. */
            toolCallId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_ARGS";
        };
        /** @description A piece of the arguments, as JSON text. */
        ToolCallArgsItem: {
            /** @description The text to append to the arguments. */
            delta: string;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The call. */
            toolCallId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_ARGS";
        };
        ToolCallBudgetExhausted: {
            /** @description The nested run. Null: the run itself. */
            agentId: string | null;
            /**
             * Format: int64
             * @description How many tools it might call.
             */
            toolCallBudget: number;
            /**
             * Format: int64
             * @description How many tools it called.
             */
            toolCalls: number;
        };
        /** @description The run has used up its tool calls. */
        ToolCallBudgetExhaustedEvent: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            payload: components["schemas"]["ToolCallBudgetExhausted"];
            /** @description The run that it belongs to, if any. */
            runId?: string;
            /**
             * Format: int64
             * @description Its number in the thread's record, from 1 without gaps. Zero: a notice, which the record does not have.
             */
            seq: number;
            /** @description Its thread. */
            threadId: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_BUDGET_EXHAUSTED";
        };
        /** @description A call is complete. */
        ToolCallEnd: {
            /** @description The arguments. */
            args: unknown;
            /** @description The arguments as the model wrote them, if they were repaired. Left out: they are args. */
            sentArgs?: unknown;
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_END";
        };
        /** @description A call is complete. */
        ToolCallEndItem: {
            /** @description The arguments. */
            args: unknown;
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The arguments as the model wrote them, if they were repaired. Left out: they are args. */
            sentArgs?: unknown;
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_END";
        };
        ToolCallPart: {
            /** @description The arguments as an object, or the model's text as a string if it was not JSON. */
            args?: unknown;
            /** @description The arguments as the model wrote them, if they were repaired. Left out: they are args. */
            sentArgs?: unknown;
            /** @description The call's id. */
            toolCallId: string;
            /** @description The tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool-call";
        };
        /** @description The result of a tool call. */
        ToolCallResult: {
            /** @description Any JSON. */
            result: unknown;
            /** @description The sources that the result names. Left out: none. */
            sources?: components["schemas"]["CitedSource"][];
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_RESULT";
        };
        /** @description The result of a tool call. */
        ToolCallResultItem: {
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description Any JSON. */
            result: unknown;
            /** @description The sources that the result names. Left out: none. */
            sources?: components["schemas"]["CitedSource"][];
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_RESULT";
        };
        /** @description A call begins. */
        ToolCallStart: {
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_START";
        };
        /** @description A call begins. */
        ToolCallStartItem: {
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /** @description The call. */
            toolCallId: string;
            /** @description Its tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "TOOL_CALL_START";
        };
        ToolContent: {
            /** @description Whose runs have the tool. Left out: everybody's. */
            access?: components["schemas"]["Access"];
            /**
             * @description Which calls wait for a person. Left out: none.
             * @enum {string}
             */
            approval?: "always" | "sometimes";
            /** @description What the model reads of it. */
            description?: string;
            /** @description Whether the person who started a run may not answer for the tool's calls. */
            distinctApprover?: boolean;
            /** @description Whether a call may be repeated after a crash. */
            idempotent?: boolean;
            /** @description The name. */
            name: string;
            /** @description The JSON Schema of the arguments. Left out: there are none. */
            parameters?: unknown;
            /** @description Whether the same call may have the same result many times. */
            polling?: boolean;
            /** @description Whether the model has to find the tool first. */
            search?: boolean;
        };
        ToolResultPart: {
            /** @description Any JSON. */
            result?: unknown;
            /** @description The call's id. */
            toolCallId: string;
            /** @description The tool. */
            toolName: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool-result";
        };
        TransferContent: {
            /** @description The name of the agent. */
            agent: string;
            /** @description What the model reads of it. */
            description?: string;
            /**
             * @description What that agent sees of the thread.
             * @enum {string}
             */
            history: "all" | "brief";
        };
        UsageCost: {
            /** @description Its code, such as USD. */
            currency: string;
            /**
             * Format: int64
             * @description Millionths of the currency.
             */
            micros: number;
            /**
             * @description The source of the price: a price table, the provider's report, or a price table with an estimated count.
             * @enum {string}
             */
            source?: "table" | "receipt" | "estimate";
            /** @description The price table. Left out: none was used. */
            version?: string;
        };
        UsageCounts: {
            /**
             * Format: int64
             * @description The part of them that came from a cache. Left out: not counted.
             */
            cacheReadInputTokens?: number;
            /**
             * Format: int64
             * @description The part of them that was written to a cache. Left out: not counted.
             */
            cacheWriteInputTokens?: number;
            /**
             * Format: int64
             * @description Tokens of the prompt, including cached ones. Left out: not counted.
             */
            inputTokens?: number;
            /**
             * Format: int64
             * @description Tokens that the model wrote, reasoning included. Left out: not counted.
             */
            outputTokens?: number;
            /**
             * Format: int64
             * @description The part of them that was reasoning. Left out: not counted.
             */
            reasoningTokens?: number;
        };
        UsageLine: {
            /** @description The agent's id, if it has one. */
            agentId: string | null;
            /** @description The agent. */
            agentName: string;
            /**
             * Format: int64
             * @description The part of them that came from a cache.
             */
            cacheReadInputTokens: number;
            /**
             * Format: int64
             * @description The part of them that went into a cache.
             */
            cacheWriteInputTokens: number;
            /**
             * Format: int64
             * @description How often it was called.
             */
            calls: number;
            /**
             * Format: int64
             * @description The price in millionths of the currency.
             */
            costMicros: number;
            /**
             * @description The currency of costMicros. Left out: a call of the line has no price.
             * @example USD
             */
            currency?: string;
            /**
             * Format: int64
             * @description The number of calls that the provider did not count, or not truly. Their estimates are separate, and included in costMicros.
             */
            estimated: number;
            /**
             * Format: int64
             * @description Estimates of the tokens that such calls read.
             */
            estimatedInputTokens?: number;
            /**
             * Format: int64
             * @description Estimates of the tokens that such calls wrote.
             */
            estimatedOutputTokens?: number;
            /**
             * Format: int64
             * @description Tokens that the model read, including those from and into a cache.
             */
            inputTokens: number;
            /** @description The model that was asked for. */
            model: string;
            /** @description The provider's name of the model. */
            modelId: string;
            /**
             * Format: int64
             * @description Tokens that the model wrote.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description The part of them that was reasoning.
             */
            reasoningTokens: number;
        };
        UsageRow: {
            /** @description The nested run that made the call. Left out: the run itself. */
            agentId?: string;
            /** @description The agent. */
            agentName: string;
            /** @description The cost. Left out: no price is known. */
            cost?: components["schemas"]["UsageCost"];
            /**
             * Format: date-time
             * @description When it ended.
             */
            createdAt: string;
            /** @description Estimates of the tokens that the provider did not count, or not truly. */
            guess?: components["schemas"]["UsageCounts"];
            /**
             * @description The purpose of the call.
             * @enum {string}
             */
            kind: "step" | "compaction" | "tool";
            /** @description The model that was asked for. */
            model: string;
            /** @description The provider's name of the model. */
            modelId: string;
            /**
             * @description How it ended.
             * @enum {string}
             */
            outcome: "finished" | "aborted" | "error" | "lost";
            /** @description The dispatched run. */
            runId: string;
            /**
             * Format: int64
             * @description The step, from 1. Zero: none.
             */
            step: number;
            /** @description The provider's counts. */
            usage: components["schemas"]["UsageCounts"];
        };
        UsageTotals: {
            /**
             * Format: int64
             * @description The part of them that came from a cache.
             */
            cachedInputTokens: number;
            /**
             * Format: int64
             * @description The cost of the calls in this currency, in millionths.
             */
            costMicros: number;
            /** @description The sum in each currency. Left out: no call was priced. */
            costs?: components["schemas"]["CurrencyCost"][];
            /**
             * @description The first currency that a call was priced in. Left out: none was.
             * @example USD
             */
            currency?: string;
            /**
             * Format: int64
             * @description Tokens that models read, cached ones included.
             */
            inputTokens: number;
            /** @description The usage by agent, model and currency. */
            lines: components["schemas"]["UsageLine"][];
            /**
             * Format: int64
             * @description Tokens that models wrote.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Both.
             */
            totalTokens: number;
            /**
             * Format: int64
             * @description The calls that costMicros does not include: their price is unknown, or in another currency.
             */
            unpriced: number;
        };
        ViewChange: {
            /** @description The messages that were added at the end of the view. */
            add?: string[];
            /**
             * Format: int64
             * @description The branch to which the message from, and all behind it, have gone.
             */
            drop?: number;
            /** @description The first message that left the view, or came back. */
            from?: string;
            /**
             * Format: int64
             * @description The branch whose messages are at the end of the view again.
             */
            restore?: number;
        };
        /** @description The next answer of the model waits for a limit of its provider. */
        WaitingForProviderItem: {
            /** @description The nested run that waits, or null for the run's own agent. */
            agentId: string | null;
            /**
             * @description What it waits for.
             * @enum {string}
             */
            limit: "requests" | "tokens" | "concurrent" | "refused";
            /**
             * @description The item's position in its stream: two numbers that grow.
             * @example 7-1
             */
            offset: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "WAITING_FOR_PROVIDER";
        };
        WebhookAttempt: {
            /** @description The beginning of the answer. It is not kept if the body had a link. */
            answer?: string;
            /**
             * Format: date-time
             * @description When it ended.
             */
            at: string;
            /**
             * Format: int64
             * @description Which attempt it was, from 1.
             */
            attempt: number;
            /**
             * Format: int64
             * @description How long it took, in milliseconds.
             */
            durationMs: number;
            /** @description Why the event was not delivered, for a person. */
            error?: string;
            /**
             * @description The event.
             * @example msg_1
             */
            eventId: string;
            /**
             * Format: date-time
             * @description When the next attempt is due. Left out: there is none.
             */
            nextAt?: string;
            /**
             * @description What it means for the event.
             * @enum {string}
             */
            result: "delivered" | "gone" | "later" | "failed" | "dead";
            /**
             * Format: int64
             * @description The status of the answer. Left out: there was none.
             */
            status?: number;
            /**
             * @description Its thread.
             * @example t1
             */
            threadId?: string;
            /**
             * @description Its kind.
             * @example run.waiting
             */
            type: string;
        };
        WebhookAttempts: {
            /** @description The attempts, the newest first. The last 100 of the last 30 days are kept. */
            attempts: components["schemas"]["WebhookAttempt"][];
        };
        WebhookChange: {
            /** @description Who answers with the links in the events. Empty: the events have no link. */
            approver?: string;
            /** @description Whether it gets no events. It is the only change of an endpoint that the configuration has. */
            disabled?: boolean;
            /** @description Replaces the whole filter. */
            filter?: components["schemas"]["WebhookFilter"];
            /**
             * @description The new form of the bodies.
             * @enum {string}
             */
            form?: "plain" | "slack";
            /** @description Whether the events have the last answer of the run. */
            text?: boolean;
            /** @description The new URL. */
            url?: string;
        };
        WebhookCreate: {
            /** @description Only events of these agents. Left out: all. */
            agents?: string[];
            /**
             * @description Who answers with the links in the events. Left out: the events have no link.
             * @example ann@example.com
             */
            approver?: string;
            /** @description Only these kinds. Left out: all. */
            events?: string[];
            /**
             * @description The form of the bodies. Left out: plain.
             * @enum {string}
             */
            form?: "plain" | "slack";
            /** @description Labels that the thread has, all of them. Left out: any thread, and events without one. */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description An id that is unique in the tenant.
             * @example billing
             */
            name: string;
            /** @description Whether the events have the last answer of the run. */
            text?: boolean;
            /**
             * @description Where the events go: https, of up to 2,048 bytes. Nobody sees it again but its scheme and host.
             * @example https://hooks.example.com/spool
             */
            url: string;
        };
        WebhookDead: {
            /**
             * Format: int64
             * @description How often it was tried.
             */
            attempts: number;
            /** @description Why it is not tried any more, for a person. */
            cause: string;
            /**
             * Format: date-time
             * @description Since when it is not tried any more.
             */
            diedAt: string;
            /**
             * @description The event.
             * @example msg_1
             */
            eventId: string;
            /**
             * Format: int64
             * @description Its dead job. It continues a list.
             */
            jobId: number;
            /**
             * @description Its run.
             * @example r1
             */
            runId?: string;
            /**
             * @description Its thread.
             * @example t1
             */
            threadId?: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            /**
             * @description Its kind.
             * @example run.waiting
             */
            type: string;
        };
        WebhookEndpoint: {
            /** @description Only events of these agents. Left out: all. */
            agents?: string[];
            /**
             * @description Who answers with the links in its events. Left out: the events have no link.
             * @example ann@example.com
             */
            approver?: string;
            /**
             * Format: date-time
             * @description When it was made. Left out: the configuration has it.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description Since when it gets no events. Left out: it gets them.
             */
            disabledAt?: string;
            /** @description Why it gets no events, for a person. */
            disabledReason?: string;
            /** @description Only these kinds. Left out: all. */
            events?: string[];
            /**
             * @description The form of its bodies.
             * @enum {string}
             */
            form: "plain" | "slack" | "template";
            /** @description Whether the configuration has it, so that it cannot be changed here. */
            fromFile?: boolean;
            /** @description Whether it stands for a host that the configuration lists for the webhooks of starts. Its name is @ with the host. It has no URL of its own, so it cannot be tested, and it cannot be disabled. */
            host?: boolean;
            /** @description Labels that the thread has, all of them. Left out: any thread, and events without one. */
            labels?: {
                [key: string]: string;
            };
            /** @description Who made it. Left out: nobody is known. */
            madeBy?: string;
            /**
             * @description Names the endpoint in its tenant.
             * @example billing
             */
            name: string;
            /**
             * @description The scheme and the host of its URL, and of a Host the host alone.
             * @example https://hooks.example.com
             */
            origin: string;
            /** @description Whether it gets only events of threads that its maker owns. */
            ownOnly?: boolean;
            /**
             * Format: int64
             * @description How many secrets sign its events: two while they change.
             */
            secrets?: number;
            /** @description Whether its events have the last answer of the run. */
            text?: boolean;
        };
        WebhookFilter: {
            /** @description Only events of these agents. Left out: all. */
            agents?: string[];
            /** @description Only these kinds. Left out: all. */
            events?: string[];
            /** @description Labels that the thread has, all of them. Left out: any thread, and events without one. */
            labels?: {
                [key: string]: string;
            };
        };
        WebhookList: {
            /** @description The endpoints by their names. */
            webhooks: components["schemas"]["WebhookEndpoint"][];
        };
        WebhookMade: {
            /** @description Only events of these agents. Left out: all. */
            agents?: string[];
            /**
             * @description Who answers with the links in its events. Left out: the events have no link.
             * @example ann@example.com
             */
            approver?: string;
            /**
             * Format: date-time
             * @description When it was made. Left out: the configuration has it.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description Since when it gets no events. Left out: it gets them.
             */
            disabledAt?: string;
            /** @description Why it gets no events, for a person. */
            disabledReason?: string;
            /** @description Only these kinds. Left out: all. */
            events?: string[];
            /**
             * @description The form of its bodies.
             * @enum {string}
             */
            form: "plain" | "slack" | "template";
            /** @description Whether the configuration has it, so that it cannot be changed here. */
            fromFile?: boolean;
            /** @description Whether it stands for a host that the configuration lists for the webhooks of starts. Its name is @ with the host. It has no URL of its own, so it cannot be tested, and it cannot be disabled. */
            host?: boolean;
            /** @description Labels that the thread has, all of them. Left out: any thread, and events without one. */
            labels?: {
                [key: string]: string;
            };
            /** @description Who made it. Left out: nobody is known. */
            madeBy?: string;
            /**
             * @description Names the endpoint in its tenant.
             * @example billing
             */
            name: string;
            /**
             * @description The scheme and the host of its URL, and of a Host the host alone.
             * @example https://hooks.example.com
             */
            origin: string;
            /** @description Whether it gets only events of threads that its maker owns. */
            ownOnly?: boolean;
            /** @description Signs the events: see Standard Webhooks. It is shown this once. Left out: no secret was made. */
            secret?: string;
            /**
             * Format: int64
             * @description How many secrets sign its events: two while they change.
             */
            secrets?: number;
            /** @description Whether its events have the last answer of the run. */
            text?: boolean;
        };
        WebhookReplay: {
            /**
             * @description This event only.
             * @example msg_1
             */
            eventId?: string;
            /**
             * Format: date-time
             * @description All events that died at this time or later.
             */
            since?: string;
        };
        WebhookReplayed: {
            /**
             * Format: int64
             * @description How many events are delivered again, with their ids and bodies.
             */
            events: number;
            /** @description Whether there are more such events: ask again. */
            more?: boolean;
        };
        AuditQuery: {
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
            /**
             * @description Only entries of this action.
             * @example answer
             */
            action?: string;
            /** @description Only entries about this thread. */
            threadId?: string;
            /** @description Only entries of this subject. */
            by?: string;
            /**
             * Format: date-time
             * @description Only entries of this time or later.
             * @example 2026-01-02T03:04:05Z
             */
            since?: string;
            /**
             * Format: date-time
             * @description Only entries before this time.
             * @example 2026-01-02T03:04:05Z
             */
            until?: string;
            /** @description True lists the entries that belong to no tenant, such as refused credentials. Only for an operator. */
            server?: boolean;
            /**
             * Format: int64
             * @description The size of a page.
             */
            limit?: number;
            /** @description The field next of the page before. */
            before?: string;
        };
        JobsQuery: {
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
            /**
             * @description The state of the jobs. Left out: all states except dead.
             * @enum {string}
             */
            state?: "dead" | "stuck" | "ready" | "delayed" | "inflight";
            /** @description How long a stuck job must have been due. Calls that are meant to take this long are listed too. */
            olderThan?: string;
            /**
             * Format: int64
             * @description How many at the most.
             */
            limit?: number;
            /** @description The field next of the page before. Only for dead jobs. */
            before?: string;
        };
        OverviewQuery: {
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
        };
        RevisionsQuery: {
            /** @description Only revisions of this agent. */
            agent?: string;
            /**
             * Format: int64
             * @description The size of a page.
             */
            limit?: number;
            /** @description The field next of the page before. */
            before?: string;
        };
        RunsQuery: {
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
            /** @description Only runs of this thread. */
            threadId?: string;
            /**
             * @description Only runs in this state.
             * @enum {string}
             */
            state?: "QUEUED" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "CANCELLED" | "FAILED";
            /** @description Only runs with questions that nobody answered. */
            expired?: boolean;
            /** @description Only runs that ended for this reason. */
            stopReason?: string;
            /** @description Only runs of this agent. */
            agent?: string;
            /** @description Only runs with this model. */
            model?: string;
            /**
             * Format: int64
             * @description Only runs of this depth. 0: runs that are not nested.
             */
            depth?: number;
            /**
             * Format: date-time
             * @description Only runs that were accepted after this time.
             * @example 2026-01-02T03:04:05Z
             */
            createdAfter?: string;
            /**
             * Format: date-time
             * @description Only runs that were accepted before this time.
             * @example 2026-01-02T03:04:05Z
             */
            createdBefore?: string;
            /**
             * Format: int64
             * @description The size of a page.
             */
            limit?: number;
            /** @description The field next of the page before. */
            before?: string;
        };
        RunQuery: {
            /** @description The tenant. Defaults to the caller's own; only an operator may name another one. */
            tenant?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
