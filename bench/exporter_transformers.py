"""Small networks of Hugging Face with random weights, one row a family, for exporter.py.

A row: the class of the model, the class of its configuration, what the configuration says beside SMALL, and the inputs:
words of INPUTS.  The sizes are small and uneven on purpose: what is tried here is the graph that an exporter writes."""

SMALL = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
         "vocab_size": 100, "max_position_embeddings": 64}
DECODER = {**SMALL, "num_key_value_heads": 2, "head_dim": 12, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
PICTURE = {**SMALL, "image_size": 32, "patch_size": 8}
EAGER = {"attn_implementation": "eager"}  # the dynamo exporter fails on the fused form of these networks
LENGTH = 11
NETWORKS = {
    # Decoders of texts.
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER, "tokens mask"),
    "llama_cache": ("LlamaForCausalLM", "LlamaConfig", DECODER, "tokens cache"),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**DECODER, "sliding_window": 6}, "tokens mask"),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", DECODER, "tokens mask"),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", DECODER, "tokens mask"),
    "qwen3_moe": ("Qwen3MoeForCausalLM", "Qwen3MoeConfig",
                  {**DECODER, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                   "experts_implementation": "batched_mm"}, "tokens"),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**DECODER, "sliding_window": 6}, "tokens mask"),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {**DECODER, "sliding_window": 6}, "tokens mask"),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", DECODER, "tokens mask"),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", DECODER, "tokens mask"),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL, "tokens mask"),
    "opt": ("OPTForCausalLM", "OPTConfig", {**SMALL, "ffn_dim": 96, "word_embed_proj_dim": 48}, "tokens mask"),
    "bloom": ("BloomForCausalLM", "BloomConfig", {"vocab_size": 100, "hidden_size": 48, "n_layer": 2, "n_head": 4},
              "tokens mask"),
    "falcon": ("FalconForCausalLM", "FalconConfig", {**SMALL, "new_decoder_architecture": False}, "tokens mask"),
    "mamba": ("MambaForCausalLM", "MambaConfig", {**SMALL, "state_size": 8}, "tokens"),
    "mamba2": ("Mamba2ForCausalLM", "Mamba2Config", {**SMALL, "state_size": 8, "num_heads": 8, "head_dim": 12,
                                                     "n_groups": 2, "chunk_size": 4}, "tokens"),
    "rwkv": ("RwkvForCausalLM", "RwkvConfig", {**SMALL, "attention_hidden_size": 48}, "tokens"),
    # Encoders of texts, and both.
    "albert": ("AlbertModel", "AlbertConfig", {**SMALL, "embedding_size": 16}, "tokens mask"),
    "electra": ("ElectraModel", "ElectraConfig", {**SMALL, "embedding_size": 16}, "tokens mask"),
    "mpnet": ("MPNetModel", "MPNetConfig", SMALL, "tokens mask"),
    "deberta_v2": ("DebertaV2Model", "DebertaV2Config",
                   {**SMALL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8},
                   "tokens mask"),
    "modernbert": ("ModernBertModel", "ModernBertConfig",
                   {**SMALL, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1,
                    "sep_token_id": 2, "local_attention": 6, "global_attn_every_n_layers": 2}, "tokens mask"),
    "t5": ("T5ForConditionalGeneration", "T5Config", {**EAGER, "d_model": 48, "d_kv": 12, "d_ff": 96,
                                                      "num_layers": 2, "num_heads": 4, "vocab_size": 100},
           "tokens decoder"),
    "bart": ("BartModel", "BartConfig", {**SMALL, "d_model": 48, "encoder_layers": 2, "decoder_layers": 2,
                                         "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                                         "encoder_ffn_dim": 96, "decoder_ffn_dim": 96}, "tokens decoder"),
    # Pictures.
    "dinov2": ("Dinov2Model", "Dinov2Config", PICTURE, "picture"),
    "siglip_vision": ("SiglipVisionModel", "SiglipVisionConfig", PICTURE, "picture"),
    "swin": ("SwinModel", "SwinConfig", {**EAGER, "image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [2, 2],
                                         "num_heads": [2, 4], "window_size": 4}, "picture"),
    "convnextv2": ("ConvNextV2Model", "ConvNextV2Config", {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]},
                   "picture"),
    "segformer": ("SegformerForSemanticSegmentation", "SegformerConfig",
                  {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 3, 4],
                   "decoder_hidden_size": 16}, "picture"),
    "detr": ("DetrForObjectDetection", "DetrConfig",
             {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None, "d_model": 32,
              "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
              "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_queries": 7}, "picture"),
    "clip": ("CLIPModel", "CLIPConfig", {"text_config": {**SMALL, "pad_token_id": 0, "bos_token_id": 1,
                                                         "eos_token_id": 2},
                                         "vision_config": PICTURE, "projection_dim": 24}, "tokens picture mask"),
    # Sound.
    "whisper_encoder": ("WhisperModel", "WhisperConfig",
                        {"vocab_size": 100, "d_model": 48, "encoder_layers": 2, "decoder_layers": 2,
                         "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96,
                         "decoder_ffn_dim": 96, "num_mel_bins": 16, "max_source_positions": 20,
                         "max_target_positions": 20, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
                         "decoder_start_token_id": 1}, "spectrum decoder"),
    "wav2vec2": ("Wav2Vec2Model", "Wav2Vec2Config", {**SMALL, "num_conv_pos_embeddings": 8,
                                                     "num_conv_pos_embedding_groups": 4, "conv_dim": [16] * 3,
                                                     "conv_stride": [5, 2, 2], "conv_kernel": [10, 3, 2],
                                                     "num_feat_extract_layers": 3}, "wave"),
}


def inputs(words, config):
    """{name: tensor} for the words of a row; the last token is masked."""
    import torch
    made = {
        "tokens": ("input_ids", torch.randint(3, 100, (1, LENGTH))),
        "mask": ("attention_mask", torch.tensor([[1] * (LENGTH - 1) + [0]])),
        "decoder": ("decoder_input_ids", torch.randint(3, 100, (1, 5))),
        "picture": ("pixel_values", torch.randn(1, 3, 32, 32)),
        "spectrum": ("input_features", torch.randn(1, 16, 40)),
        "wave": ("input_values", torch.randn(1, 400)),
    }
    return dict(made[w] for w in words if w in made)


def network(name):
    """(module whose positional arguments are the inputs and whose result is one tensor, {name: tensor})"""
    import torch
    import transformers
    model_class, config_class, words, kinds = NETWORKS[name]
    config = getattr(transformers, config_class)(**words)
    model = getattr(transformers, model_class)(config)
    given = inputs(kinds.split(), config)
    names = list(given)
    cached = "cache" in kinds.split()
    if cached:
        for k in range(config.num_hidden_layers):
            for part in "key", "value":
                given[f"past_{part}_{k}"] = torch.randn(1, config.num_key_value_heads, 7, config.head_dim)

    class First(torch.nn.Module):
        """The first result alone: exporters write tensors, no result classes.  With a cache the new keys, too."""

        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, *tensors):
            words = dict(zip(names, tensors))
            if not cached:
                y = self.inner(**words, return_dict=True)
                return next(v for v in y.values() if torch.is_tensor(v))
            cache, rest = transformers.DynamicCache(), tensors[len(names):]
            for k in range(config.num_hidden_layers):
                cache.update(rest[2 * k], rest[2 * k + 1], k)
            return self.inner(**words, past_key_values=cache, use_cache=True, return_dict=True).logits

    return First(), given
