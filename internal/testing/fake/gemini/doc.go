// Package gemini is a strict server with the interface of Google's Gemini API, for tests. It streams scripted
// answers, and refuses with status 400 what the API refuses:
//
//   - a function call of the current turn without a signature, if it is the first one of its step, and a signature
//     that was altered, moved to another part or place, or made by another model,
//   - function responses that do not match the calls before them in number, order, name or id,
//   - contents that do not begin and end with a user turn, or whose roles do not alternate,
//   - fields that the API does not know, and combinations of settings that it does not take.
//
// It is stricter than the API where that finds more mistakes: the API does not look at the signatures of texts and
// of earlier turns, and it accepts roles that repeat. It was written after Google's documentation and the errors that
// users report, and was never compared with the API itself.
//
// Signatures are made with a key (HMAC) from the model, the part and the parts before it, so the server keeps no
// state between requests.
package gemini
