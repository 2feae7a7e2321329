// A server in memory, for tests of what uses the client.
export {};
