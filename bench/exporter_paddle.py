"""Networks of PaddlePaddle with random weights, exported by paddle2onnx, for exporter.py."""
import os

VISION = {"lenet": ("LeNet", {}, (1, 1, 28, 28)),
          "resnet18": ("resnet18", {}, (1, 3, 64, 64)),
          "vgg11": ("vgg11", {"batch_norm": True}, (1, 3, 224, 224)),
          "alexnet": ("alexnet", {}, (1, 3, 224, 224)),
          "mobilenet_v1": ("mobilenet_v1", {"scale": 0.25}, (1, 3, 64, 64)),
          "mobilenet_v2": ("mobilenet_v2", {"scale": 0.25}, (1, 3, 64, 64)),
          "mobilenet_v3_small": ("mobilenet_v3_small", {"scale": 0.5}, (1, 3, 64, 64)),
          "squeezenet1_1": ("squeezenet1_1", {}, (1, 3, 64, 64)),
          "shufflenet_v2_x0_25": ("shufflenet_v2_x0_25", {}, (1, 3, 64, 64)),
          "densenet121": ("densenet121", {}, (1, 3, 64, 64)),
          "googlenet": ("googlenet", {}, (1, 3, 224, 224)),
          "inception_v3": ("inception_v3", {}, (1, 3, 299, 299))}
OWN = ["encoder", "lstm", "gru", "unet", "moves"]


def own_network(name):
    import numpy
    import paddle
    from paddle import nn

    class Encoder(nn.Layer):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(100, 32)
            self.places = nn.Embedding(16, 32)
            layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu")
            self.encoder = nn.TransformerEncoder(layer, 2)
            self.head = nn.Linear(32, 5)

        def forward(self, x):
            places = paddle.arange(x.shape[1], dtype="int64")
            y = self.encoder(self.words(x) + self.places(places))
            return self.head(paddle.tanh(y[:, 0]))

    class Recurrent(nn.Layer):
        def __init__(self, cell):
            super().__init__()
            self.net = cell(8, 16, num_layers=2, direction="bidirect")
            self.head = nn.Linear(32, 3)

        def forward(self, x):
            return nn.functional.softmax(self.head(self.net(x)[0]), axis=-1)

    class Unet(nn.Layer):
        def __init__(self):
            super().__init__()
            self.down = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.Hardswish())
            self.low = nn.Sequential(nn.MaxPool2D(2), nn.Conv2D(8, 16, 3, padding="SAME"), nn.GroupNorm(4, 16),
                                     nn.Swish())
            self.up = nn.Conv2DTranspose(16, 8, 2, stride=2)
            self.head = nn.Sequential(nn.Conv2D(24, 8, 3, padding=1), nn.PReLU(8), nn.InstanceNorm2D(8),
                                      nn.Conv2D(8, 2, 1))

        def forward(self, x):
            high = self.down(x)
            low = self.low(high)
            wide = nn.functional.interpolate(low, size=[16, 16], mode="bilinear", align_corners=False)
            near = nn.functional.interpolate(low, size=[16, 16], mode="nearest")
            y = paddle.concat([high, self.up(low), wide[:, :8] + near[:, 8:]], axis=1)
            return nn.functional.log_softmax(self.head(y), axis=1)

    class Moves(nn.Layer):
        def forward(self, x):
            y = paddle.nn.functional.pad(x, [1, 2, 0, 1], mode="reflect")
            y = paddle.roll(y, shifts=2, axis=3).flip(axis=[2])
            a, b = paddle.split(y, [1, 2], axis=1)
            y = paddle.stack([paddle.clip(b[:, 0], -0.5, 0.5), a.squeeze(1), paddle.tril(b[:, 1])], axis=1)
            top, _ = paddle.topk(y, 3, axis=-1)
            y = paddle.where(top > 0.1, top, paddle.exp(top)) + paddle.cumsum(top, axis=2)
            y = paddle.einsum("bchw,bcvw->bhv", y, y)
            return paddle.logsumexp(y, axis=-1) + paddle.norm(y, p=2, axis=1)

    net = {"encoder": Encoder, "lstm": lambda: Recurrent(nn.LSTM), "gru": lambda: Recurrent(nn.GRU), "unet": Unet,
           "moves": Moves}[name]()
    rng = numpy.random.default_rng(1)
    x = rng.integers(0, 100, (1, 9)) if name == "encoder" else \
        rng.standard_normal((1, 7, 8) if name in ("lstm", "gru") else (1, 3, 16, 16)).astype("float32")
    return net, x


def case(network, opset, folder):
    """Writes model.onnx; (inputs, outputs)"""
    import numpy
    import paddle
    paddle.seed(2026)
    if network in VISION:
        name, words, shape = VISION[network]
        net = getattr(paddle.vision.models, name)(**words)
        x = numpy.random.default_rng(1).standard_normal(shape).astype("float32")
    else:
        net, x = own_network(network)
    net.eval()
    rng = numpy.random.default_rng(2)
    for name, p in net.state_dict().items():  # constant parameters and statistics would vanish
        a = p.numpy()
        if a.dtype.kind == "f" and a.size > 1 and a.min() == a.max():
            p.set_value(numpy.abs(a + rng.standard_normal(a.shape) * 0.05).astype(a.dtype))
    want = net(paddle.to_tensor(x))
    want = want if isinstance(want, (list, tuple)) else [want]
    spec = [paddle.static.InputSpec([None, *x.shape[1:]], str(x.dtype), "x")]
    path = os.path.join(folder, "model")
    paddle.onnx.export(net, path, input_spec=spec, opset_version=opset or 17)
    return [x], [w.numpy() for w in want]
