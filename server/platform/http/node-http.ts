/**
 * Node's HTTP module. An `import` of it would also load Node's own fetch and WebSocket, which are among its names: 50 ms and
 * 14 MB in every process.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
