package endpoint

import "aiperf/internal/record"

// catalogue holds the endpoint types of the contract (endpoints, section 1) in its order.
var catalogue = []Endpoint{
	{Name: "chat", Path: "/v1/chat/completions", Title: "LLM Metrics", Summary: "OpenAI chat completions, with images, audio and video",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Images: true, Audio: true, Video: true,
		SystemMessage: true, CacheBust: true, Replies: true, FixesLength: true, Marked: true, Open: openChat},
	{Name: "completions", Path: "/v1/completions", Title: "LLM Metrics", Summary: "OpenAI text completions",
		Streams: true, ProducesTokens: true, TokenizesInput: true, ContextText: true, TokenIDs: true, FixesLength: true, Marked: true,
		Open: completionsType.open},
	{Name: "responses", Path: "/v1/responses", Title: "LLM Metrics", Summary: "OpenAI responses",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Images: true, Audio: true,
		SystemMessage: true, CacheBust: true, Replies: true, Open: openResponses},
	{Name: "messages", Path: "/v1/messages", Title: "LLM Metrics", Summary: "Anthropic messages",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Images: true,
		SystemMessage: true, CacheBust: true, Replies: true, Open: messagesType.open, Auth: messagesAuth},
	{Name: "embeddings", Path: "/v1/embeddings", Title: "Embeddings Metrics", Summary: "OpenAI embeddings",
		TokenizesInput: true, Produces: record.Embeddings, Open: embeddingsType.open},
	{Name: "chat_embeddings", Path: "/v1/embeddings", Title: "Embeddings Metrics", Summary: "embeddings of chat messages",
		TokenizesInput: true, Images: true, SystemMessage: true, Produces: record.Embeddings, Open: chatEmbeddingsType.open},
	{Name: "nim_embeddings", Path: "/v1/embeddings", Title: "NIM Embeddings Metrics", Summary: "NIM embeddings of texts and images",
		TokenizesInput: true, Images: true, Produces: record.Embeddings, Open: nimEmbeddingsType.open},
	{Name: "nim_rankings", Path: "/v1/ranking", Title: "Rankings Metrics", Summary: "NIM rankings",
		TokenizesInput: true, Produces: record.Rankings, Open: nimRankingsType.open, Remarks: rankingRemarks},
	{Name: "cohere_rankings", Path: "/v2/rerank", Title: "Ranking Metrics", Summary: "Cohere rerank",
		TokenizesInput: true, Produces: record.Rankings, Open: cohereRankingsType.open, Remarks: rankingRemarks},
	{Name: "hf_tei_rankings", Path: "/rerank", Title: "Ranking Metrics", Summary: "Hugging Face text-embeddings-inference rerank",
		TokenizesInput: true, Produces: record.Rankings, Open: teiRankingsType.open, Remarks: rankingRemarks},
	{Name: "huggingface_generate", Path: "/generate", StreamPath: "/generate_stream", Title: "LLM Metrics", Summary: "Hugging Face text generation",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Open: huggingFaceType.open},
	{Name: "image_generation", Path: "/v1/images/generations", Title: "Image Generation Metrics", Summary: "OpenAI image generation",
		Streams: true, TokenizesInput: true, Produces: record.Images, Open: imageGenerationType.open, Remarks: onePromptRemarks},
	{Name: "video_generation", Path: "/v1/videos", Title: "Video Generation Metrics", Summary: "OpenAI video generation",
		TokenizesInput: true, Produces: record.Video, FollowsUp: true, Forms: FormsOrJSON, Open: openVideo, Remarks: onePromptRemarks},
	{Name: "solido_rag", Path: "/rag/api/prompt", Title: "SOLIDO RAG Metrics", Summary: "SOLIDO RAG prompts",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Open: solidoType.open},
	{Name: "template", Title: "LLM Metrics", Summary: "any JSON API, by a template of your own",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Images: true, Audio: true, Video: true, Open: openTemplate},
	{Name: "image_edit", Path: "/v1/images/edits", Title: "Image Edit Metrics", Summary: "OpenAI image edits",
		TokenizesInput: true, Images: true, Produces: record.Images, Forms: FormsOnly, Reserved: imageEditReserved,
		Open: imageEditType.open, Remarks: imageEditRemarks},
	{Name: "image_retrieval", Path: "/v1/infer", Title: "Image Retrieval Metrics", Summary: "NIM image retrieval",
		Images: true, InlineMedia: true, Produces: record.Other, Open: imageRetrievalType.open, Remarks: imageRetrievalRemarks},
	{Name: "audio_transcription", Path: "/v1/audio/transcriptions", Title: "Audio Transcription Metrics", Summary: "OpenAI transcription",
		Audio: true, Produces: record.Transcription, Forms: FormsOnly, Reserved: transcriptionReserved,
		Open: transcriptionType.open, Remarks: transcriptionRemarks},
	{Name: "raw", Title: "LLM Metrics", Summary: "ready bodies from a file, sent as they are",
		Streams: true, ProducesTokens: true, TokenizesInput: true, Images: true, Audio: true, Video: true, Open: openRaw},
	{Name: "sglang_generate", Path: "/generate", Title: "LLM Metrics", Summary: "SGLang generation from token ids",
		Streams: true, MustStream: true, ProducesTokens: true, TokenizesInput: true, TokenIDs: true, Replies: true, Open: sglangType.open},
	{Name: "vllm_generate", Path: "/inference/v1/generate", Title: "LLM Metrics", Summary: "vLLM generation from token ids",
		ProducesTokens: true, TokenizesInput: true, TokenIDs: true, Replies: true, Open: vllmType.open},
	{Name: "kserve", Path: "/v2/models/{model}/infer", Title: "LLM Metrics", Summary: "Open Inference Protocol (KServe v2, Triton) over gRPC or HTTP",
		Streams: true, ProducesTokens: true, TokenizesInput: true, GRPC: true, Open: openKServe},
	{Name: "generate", Path: "/v2/models/{model}/generate", StreamPath: "/v2/models/{model}/generate_stream", Title: "LLM Metrics",
		Summary: "Triton generate extension", Streams: true, ProducesTokens: true, TokenizesInput: true, Open: generateType.open},
	{Name: "dynamic_grpc", Title: "LLM Metrics", Summary: "any gRPC method, its messages as JSON",
		Streams: true, Produces: record.Other, GRPC: true, Open: openDynamic},
	{Name: "nvclip", Path: "/v1/embeddings", Title: "NIM Embeddings Metrics", Summary: "NV-CLIP embeddings of texts and images",
		TokenizesInput: true, Images: true, Produces: record.Embeddings, Open: nvclipType.open},
}

// alias is an old name of a type, or a name that cannot be served.
type alias struct{ name, refuse string }

// aliases are the names that GenAI-Perf used (endpoints, section 2.2).
var aliases = map[string]alias{
	"rankings":   {name: "nim_rankings"},
	"multimodal": {name: "chat"},
	"vision":     {name: "chat"},
	"tensorrtllm_engine": {refuse: "it needs the TensorRT-LLM library inside the process; " +
		"use chat or kserve against a server that runs the engine"},
}
