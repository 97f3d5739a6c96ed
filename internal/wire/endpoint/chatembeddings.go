package endpoint

// chatEmbeddingsType embeds chat messages: the body of a chat, answered with vectors (endpoints, section 9.7).
var chatEmbeddingsType = jsonType{encode: encodeChat, input: chatInput, member: embeddingsMember}
