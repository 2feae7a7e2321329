# Prints the frames of a live stream in short. For record.sh.
def dim: "\u001b[90m" + . + "\u001b[0m";
def line(mark; text): "\u001b[36m" + mark + "\u001b[0m " + text + "\n";
def item:
  if .type == "TEXT_MESSAGE_CONTENT" then .delta
  elif .type == "REASONING_CONTENT" then .delta | dim
  elif .type == "TEXT_MESSAGE_END" or .type == "REASONING_END" then "\n"
  elif .type == "TOOL_CALL_END" then line("call"; .toolName + " " + (.args | tojson))
  elif .type == "TOOL_CALL_RESULT" then line("result"; .result | tojson)
  elif .type == "RUN_ERROR" then "\n"
  else "" end;
if .kind == "snapshot" then
  line("snapshot"; "\(.snapshot.messages | length) message, seq \(.snapshot.lastEventSeq), stream \(.snapshot.stream.streamId)"),
  (.snapshot.stream.items[] | item)
elif .kind == "stream" then .item | item
elif .event.type == "STATE_CHANGE" then line("state"; .event.payload.state)
elif .event.type == "RUN_STARTED" then line("seq \(.event.seq)"; "RUN_STARTED " + .event.payload.streamId)
elif .event.type == "RUN_ENDED" then line("seq \(.event.seq)"; "RUN_ENDED " + .event.payload.status)
elif .event.type == "INPUT_REQUIRED" then
  line("seq \(.event.seq)"; "INPUT_REQUIRED " + .event.payload.toolName + " " + (.event.payload.arguments | tojson))
elif .event.seq > 0 then line("seq \(.event.seq)"; .event.type)
else "" end
