#!/usr/bin/env python3
"""Architectures of timm and of transformers with random weights, as .pt2 and traced, against PyTorch itself.

    python3 bench/formats/torch_zoo.py DLC [PATTERN]

Needs torch, timm and transformers (checked with 2.15.0, 1.0.31 and 5.24.0). Networks of transformers have two layers
and small widths. Each line: the largest error over the largest element of any result, or the sentence that refused it,
for each way of saving. A way in which PyTorch cannot save a network is no failure.
"""
import re, subprocess, sys, tempfile, warnings

import numpy as np
import timm
import torch
import transformers as T

warnings.filterwarnings("ignore")

# name, or name:size; "!": the constructor takes the size
TIMM = """convnext_atto convnextv2_atto vit_tiny_patch16_224:64! deit_tiny_patch16_224:64! deit3_small_patch16_224:32!
swin_tiny_patch4_window7_224:224 swinv2_tiny_window8_256:64! swinv2_cr_tiny_ns_224:64! beit_base_patch16_224:32!
beitv2_base_patch16_224:32! eva02_tiny_patch14_224:56! cait_xxs24_224:64! efficientnet_b0 efficientnetv2_rw_t
tf_efficientnet_lite0 mixnet_s mobilenetv3_small_050 mobilenetv4_conv_small mobilevit_xxs:64 mobilevitv2_050:64
mobileone_s0 regnetx_002 regnety_002 regnetz_b16 resnest14d resnet18 resnext50_32x4d seresnet18 ecaresnet26t skresnet18
res2net50_26w_4s selecsls42b coatnet_nano_rw_224:224 coat_lite_tiny:64 maxvit_pico_rw_256:64! levit_128s:224
pvt_v2_b0:64 poolformer_s12 caformer_s18 convformer_s18 ghostnet_050 ghostnetv2_100 hrnet_w18_small dla34
eca_nfnet_l0 dm_nfnet_f0 nf_resnet26 mixer_s32_224:64! resmlp_12_224:64! gmlp_s16_224:64! xcit_nano_12_p16_224:64
edgenext_xx_small:64 fastvit_t8:64 repvgg_a0 repvit_m0_9 rexnet_100 densenet121 dpn68 inception_v4:96
inception_resnet_v2:96 xception41 vovnet39a cspresnet50 cspdarknet53 darknet53 hardcorenas_a lcnet_050 tinynet_e
mnasnet_small spnasnet_100 fbnetc_100 semnasnet_075 resnetv2_50 botnet26t_256:64! halonet26t:64 lambda_resnet26t:64!
volo_d1_224:64! twins_svt_small:64 twins_pcpvt_small:64 tnt_s_patch16_224:224 nest_tiny:224 crossvit_tiny_240:240
convit_tiny:224 visformer_tiny:64! sequencer2d_s:64! davit_tiny:64 focalnet_tiny_srf gcvit_xxtiny:64! hgnet_tiny
hgnetv2_b0 efficientformer_l1:224 efficientformerv2_s0:224 efficientvit_b0:64 efficientvit_m0:224 mambaout_femto
nextvit_small:64 inception_next_atto starnet_s1 tiny_vit_5m_224:64! hiera_tiny_224:224 rdnet_tiny swiftformer_xs:64
shvit_s1:64 vit_relpos_small_patch16_224:64! vit_srelpos_small_patch16_224:64! samvit_base_patch16_224:32!
legacy_senet154:64
""".split()

LINE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=99,
            max_position_embeddings=40)
CAUSAL = dict(LINE, num_key_value_heads=2, pad_token_id=0, use_cache=False)
SEEN = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32,
            patch_size=8)
WORDS, IMAGE = ("input_ids", "attention_mask"), ("pixel_values",)
# name: (model, configuration, its fields, inputs)
NETWORKS = dict(
    bert=(T.BertModel, T.BertConfig, LINE, WORDS),
    bert_classify=(T.BertForSequenceClassification, T.BertConfig, LINE, WORDS),
    bert_masked=(T.BertForMaskedLM, T.BertConfig, LINE, WORDS),
    distilbert=(T.DistilBertModel, T.DistilBertConfig,
                dict(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=40), WORDS),
    roberta=(T.RobertaModel, T.RobertaConfig, LINE, WORDS),
    xlm_roberta=(T.XLMRobertaModel, T.XLMRobertaConfig, LINE, WORDS),
    albert=(T.AlbertModel, T.AlbertConfig, dict(LINE, embedding_size=16), WORDS),
    electra=(T.ElectraModel, T.ElectraConfig, dict(LINE, embedding_size=16), WORDS),
    deberta=(T.DebertaModel, T.DebertaConfig, dict(LINE, relative_attention=True, pos_att_type=["c2p", "p2c"]), WORDS),
    deberta_v2=(T.DebertaV2Model, T.DebertaV2Config,
                dict(LINE, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8), WORDS),
    mpnet=(T.MPNetModel, T.MPNetConfig, LINE, WORDS),
    mobilebert=(T.MobileBertModel, T.MobileBertConfig, dict(LINE, embedding_size=16, intra_bottleneck_size=32), WORDS),
    squeezebert=(T.SqueezeBertModel, T.SqueezeBertConfig, dict(LINE, embedding_size=32), WORDS),
    modernbert=(T.ModernBertModel, T.ModernBertConfig, dict(LINE, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                cls_token_id=1, sep_token_id=2, attn_implementation="sdpa"), WORDS),
    funnel=(T.FunnelBaseModel, T.FunnelConfig, dict(vocab_size=99, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8,
            d_inner=64), WORDS),
    roformer=(T.RoFormerModel, T.RoFormerConfig, LINE, WORDS),
    layoutlm=(T.LayoutLMModel, T.LayoutLMConfig, LINE, WORDS),
    fnet=(T.FNetModel, T.FNetConfig, LINE, ("input_ids",)),
    nystromformer=(T.NystromformerModel, T.NystromformerConfig, dict(LINE, num_landmarks=4,
                   segment_means_seq_len=12, conv_kernel_size=3), WORDS),
    gpt2=(T.GPT2LMHeadModel, T.GPT2Config, dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=40,
          use_cache=False), WORDS),
    gpt_neo=(T.GPTNeoForCausalLM, T.GPTNeoConfig, dict(vocab_size=99, hidden_size=32, num_layers=2, num_heads=4,
             attention_types=[[["global", "local"], 1]], max_position_embeddings=40, window_size=4, use_cache=False),
             WORDS),
    gpt_neox=(T.GPTNeoXForCausalLM, T.GPTNeoXConfig, dict(LINE, use_cache=False), WORDS),
    gptj=(T.GPTJForCausalLM, T.GPTJConfig, dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, rotary_dim=4,
          n_positions=40, use_cache=False), WORDS),
    opt=(T.OPTForCausalLM, T.OPTConfig, dict(LINE, ffn_dim=64, word_embed_proj_dim=32, use_cache=False), WORDS),
    bloom=(T.BloomForCausalLM, T.BloomConfig, dict(vocab_size=99, hidden_size=32, n_layer=2, n_head=4, use_cache=False),
           WORDS),
    llama=(T.LlamaForCausalLM, T.LlamaConfig, CAUSAL, WORDS),
    mistral=(T.MistralForCausalLM, T.MistralConfig, dict(CAUSAL, sliding_window=6), WORDS),
    mixtral=(T.MixtralForCausalLM, T.MixtralConfig, dict(CAUSAL, num_local_experts=4), WORDS),
    qwen2=(T.Qwen2ForCausalLM, T.Qwen2Config, CAUSAL, WORDS),
    qwen3=(T.Qwen3ForCausalLM, T.Qwen3Config, dict(CAUSAL, head_dim=8), WORDS),
    gemma=(T.GemmaForCausalLM, T.GemmaConfig, dict(CAUSAL, head_dim=8), WORDS),
    gemma2=(T.Gemma2ForCausalLM, T.Gemma2Config, dict(CAUSAL, head_dim=8, sliding_window=6), WORDS),
    phi=(T.PhiForCausalLM, T.PhiConfig, CAUSAL, WORDS),
    phi3=(T.Phi3ForCausalLM, T.Phi3Config, CAUSAL, WORDS),
    olmo=(T.OlmoForCausalLM, T.OlmoConfig, CAUSAL, WORDS),
    stablelm=(T.StableLmForCausalLM, T.StableLmConfig, CAUSAL, WORDS),
    falcon=(T.FalconForCausalLM, T.FalconConfig, dict(LINE, use_cache=False), WORDS),
    mamba=(T.MambaForCausalLM, T.MambaConfig, dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=4,
           use_cache=False), ("input_ids",)),
    rwkv=(T.RwkvForCausalLM, T.RwkvConfig, dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, use_cache=False,
          context_length=40), ("input_ids",)),
    t5_encoder=(T.T5EncoderModel, T.T5Config, dict(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2,
                num_heads=4), WORDS),
    t5=(T.T5ForConditionalGeneration, T.T5Config, dict(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2,
        num_heads=4, use_cache=False), WORDS + ("decoder_input_ids",)),
    bart=(T.BartModel, T.BartConfig, dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2,
          encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
          max_position_embeddings=40, use_cache=False), WORDS + ("decoder_input_ids",)),
    vit=(T.ViTModel, T.ViTConfig, SEEN, IMAGE),
    deit=(T.DeiTModel, T.DeiTConfig, SEEN, IMAGE),
    beit=(T.BeitModel, T.BeitConfig, dict(SEEN, use_relative_position_bias=True), IMAGE),
    dinov2=(T.Dinov2Model, T.Dinov2Config, SEEN, IMAGE),
    clip_text=(T.CLIPTextModel, T.CLIPTextConfig, dict(LINE, eos_token_id=2), WORDS),
    clip_vision=(T.CLIPVisionModel, T.CLIPVisionConfig, SEEN, IMAGE),
    siglip_vision=(T.SiglipVisionModel, T.SiglipVisionConfig, SEEN, IMAGE),
    swin=(T.SwinModel, T.SwinConfig, dict(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4],
          window_size=4), IMAGE),
    segformer=(T.SegformerForSemanticSegmentation, T.SegformerConfig, dict(depths=[1] * 4, hidden_sizes=[8, 16, 16, 32],
               decoder_hidden_size=16), IMAGE),
    convnext=(T.ConvNextModel, T.ConvNextConfig, dict(hidden_sizes=[8, 16, 16, 32], depths=[1] * 4), IMAGE),
    resnet=(T.ResNetModel, T.ResNetConfig, dict(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1]), IMAGE),
    mobilevit=(T.MobileViTModel, T.MobileViTConfig, dict(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 24, 32,
               32, 64], image_size=64), IMAGE),
    dpt=(T.DPTForDepthEstimation, T.DPTConfig, dict(SEEN | {"num_hidden_layers": 4}, backbone_out_indices=[0, 1, 2, 3],
         neck_hidden_sizes=[8] * 4, fusion_hidden_size=8), IMAGE),
    yolos=(T.YolosForObjectDetection, T.YolosConfig, dict(SEEN, image_size=[32, 32], num_detection_tokens=5), IMAGE),
    whisper_encoder=(lambda c: T.WhisperModel(c).get_encoder(), T.WhisperConfig,
                     dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
                          decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=20,
                          num_mel_bins=8, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1),
                     ("input_features",)),
    wav2vec2=(T.Wav2Vec2Model, T.Wav2Vec2Config, dict(LINE, conv_dim=[16] * 3, conv_stride=[5, 2, 2],
              conv_kernel=[10, 3, 2], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2), ("input_values",)),
    hubert=(T.HubertModel, T.HubertConfig, dict(LINE, conv_dim=[16] * 3, conv_stride=[5, 2, 2],
            conv_kernel=[10, 3, 2], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2), ("input_values",)),
    wavlm=(T.WavLMModel, T.WavLMConfig, dict(LINE, conv_dim=[16] * 3, conv_stride=[5, 2, 2],
           conv_kernel=[10, 3, 2], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2), ("input_values",)),
    audio_spectrogram=(T.ASTModel, T.ASTConfig, dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=64, max_length=48, num_mel_bins=32), ("input_values",)),
)


class Results(torch.nn.Module):
    """The tensors of what a network gives."""

    def __init__(self, net, names):
        super().__init__()
        self.net, self.names = net, names

    def forward(self, *x):
        y = self.net(**dict(zip(self.names, x))) if self.names else self.net(*x)
        return tuple(tensors(y))


def tensors(y):
    if isinstance(y, torch.Tensor):
        return [y]
    return [t for p in (y.values() if isinstance(y, dict) else y or ()) if p is not None for t in tensors(p)]


def stir(net):
    """Normalisations and weights that do something."""
    for key, w in net.state_dict().items():
        if key.endswith("running_var"):
            w.uniform_(0.5, 1.5)
        elif key.endswith("running_mean"):
            w.uniform_(-0.2, 0.2)
        elif w.is_floating_point() and w.numel() > 0 and (w == w.flatten()[0]).all():
            w.add_(torch.randn_like(w) * 0.05)


def build_timm(text):
    name, _, size = text.partition(":")
    fixed, size = size.endswith("!"), int(size.strip("!") or 64)
    net = timm.create_model(name, pretrained=False, num_classes=10, **(dict(img_size=size) if fixed else {})).eval()
    return Results(net, None), (torch.rand(1, 3, size, size) * 2 - 1,)


def build_transformer(name):
    make, config, fields, inputs = NETWORKS[name]
    net, size = make(config(**fields)).eval(), fields.get("image_size", 64)
    size = size[0] if isinstance(size, list) else size
    given = dict(input_ids=torch.randint(3, 99, (2, 12)), decoder_input_ids=torch.randint(3, 99, (2, 7)),
                 attention_mask=torch.tensor([[1] * 12, [1] * 9 + [0] * 3]), pixel_values=torch.randn(1, 3, size, size),
                 input_features=torch.randn(1, 8, 40), input_values=torch.randn(2, 480))
    if name == "audio_spectrogram":
        given["input_values"] = torch.randn(1, 48, 32)
    if name == "funnel":
        given["attention_mask"] = given["attention_mask"].float()
    return Results(net, inputs), tuple(given[i] for i in inputs)


def compare(dlc, model, xs, want, folder):
    """An error, or the sentence that says what is wrong."""
    for k, x in enumerate(xs):
        np.save(f"{folder}/{k}.npy", x.numpy())
    info = subprocess.run([dlc, "show", model, "--imported"], capture_output=True, text=True)
    names = re.findall(r"^in (\S+):", info.stdout, re.M)
    r = info if info.returncode != 0 else subprocess.run(
        [dlc, "run", model, "--tuning-db=none", f"--output={folder}/y.npz"]
        + [f"--input={n}={folder}/{k}.npy" for k, n in enumerate(names)], capture_output=True, text=True)
    if r.returncode != 0:
        return r.stderr.strip()[-400:]
    y = np.load(f"{folder}/y.npz")
    got = [y[k] for k in y.files]
    if [a.shape for a in got] != [tuple(b.shape) for b in want]:
        return f"{[a.shape for a in got]} where {[tuple(b.shape) for b in want]}"
    off = 0
    for a, b in zip(got, want):
        b = b.numpy().astype(float)
        off = max(off, np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)) if np.isfinite(a).all() else np.inf
    return off


def own_error(net, xs, want):
    """How far PyTorch's f32 results are from its f64 ones, as a part of the largest element."""
    wide = net.double()(*[x.double() if x.is_floating_point() else x for x in xs])
    pairs = [(a.double(), b) for a, b in zip(want, wide) if b.is_floating_point()]
    return max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-30)) for a, b in pairs)


def main():
    dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    counts = {}
    for kind, names, build in ("timm", TIMM, build_timm), ("transformers", NETWORKS, build_transformer):
        for name in names:
            if not re.search(word, f"{kind} {name}"):
                continue
            torch.manual_seed(5)
            said, right, saved = [], True, 0
            try:
                net, xs = build(name)
                with torch.no_grad():
                    stir(net)
                    want = net(*xs)
            except Exception as e:
                print(f"{kind} {name}: not made, {type(e).__name__} {str(e)[:200]!r}", flush=True)
                continue
            with tempfile.TemporaryDirectory() as d, torch.no_grad():
                for way in "pt2", "traced":
                    model = f"{d}/m.pt2" if way == "pt2" else f"{d}/m.pt"
                    try:
                        if way == "pt2":
                            torch.export.save(torch.export.export(net, xs), model)
                        else:
                            torch.jit.trace(net, xs, check_trace=False).save(model)
                    except Exception as e:
                        said.append(f"{way}: not saved, {type(e).__name__} {str(e)[:60]!r}")
                        continue
                    off = compare(dlc, model, xs, want, d)
                    ok, saved = not isinstance(off, str) and off <= 1e-4, saved + 1
                    right = right and ok
                    said.append(f"{way}: {off if isinstance(off, str) else f'{off:.1e}'}")
                if not right and saved and (own := own_error(net, xs, want)) > 1e-4:
                    print(f"{kind} {name}: left out, PyTorch's own f32 and f64 differ by {own:.1e}", flush=True)
                    continue
            n, m = counts.get(kind, (0, 0))
            counts[kind] = n + (right and saved > 0), m + (saved > 0)
            print(f"{kind} {name}: {', '.join(said)}", flush=True)
    print(", ".join(f"{kind}: {n} of {m} right" for kind, (n, m) in counts.items()))


main()
