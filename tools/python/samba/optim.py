"""Optimizers of the device: SGD and AdamW, compiled into the PEF as its OPT sections.

They are torch optimizers in what a program stores and loads (param_groups, state_dict), but the
device takes the steps. `samba.session.to_cpu(model, optimizer)` copies the state to the host, and
state_dict then holds PyTorch's names (momentum_buffer; exp_avg, exp_avg_sq, step)."""
import math

import torch

from samba.names import missing_attribute, refuse

NAMES = ("SGD", "AdamW", "SparseAdamW")


def check(optimizer, name, value, below=None):
    """ValueError unless the value is finite, at least 0, and below the bound."""
    good = isinstance(value, (int, float)) and math.isfinite(value) and value >= 0
    if not good or (below is not None and value >= below):
        bound = "at least 0" if below is None else f"at least 0 and below {below}"
        raise ValueError(f"{optimizer}: {name} is {value}, but must be {bound}")


class DeviceOptimizer(torch.optim.Optimizer):
    """What SGD and AdamW share. Not for direct use."""

    kind = ""
    # Symbols of the device (NAME__velocity) and what PyTorch calls the same state.
    state_keys = {}

    def __init__(self, params, defaults, argin_region_name):
        super().__init__(params, defaults)
        self.argin_region_name = argin_region_name
        for group in self.param_groups:
            self.check_group(group)

    def check_group(self, group):
        """Refuses what the device cannot do; groups may differ in all their numbers."""
        name = type(self).__name__
        check(name, "lr", group["lr"])
        check(name, "weight_decay", group["weight_decay"])

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        self.check_group(self.param_groups[-1])

    def step(self, closure=None):
        """Refused: the device takes the steps."""
        raise RuntimeError(
            f"samba.optim.{type(self).__name__}.step: the device takes the steps; run the sections "
            "of type OPT: samba.session.run(..., section_types=['FWD', 'BCKWD', 'OPT']), or a "
            "whole run, which contains them"
        )

    def cpu(self, inplace=False):
        """Copies the state from the device to the host, where state_dict has it. Returns self."""
        import samba

        samba.session._read_state(self)
        return self

    def cpu_(self):
        """The same."""
        return self.cpu(inplace=True)

    def rdu(self):
        """Copies the state from the host to the device. Returns self."""
        import samba

        samba.session._write_state(self)
        return self

    def load_state_dict(self, state_dict):
        """As torch's, but the states keep their types: of bfloat16 parameters some are f32."""
        super().load_state_dict(state_dict)
        for saved, group in zip(state_dict["param_groups"], self.param_groups):
            for number, parameter in zip(saved["params"], group["params"]):
                for key, value in state_dict["state"].get(number, {}).items():
                    if isinstance(value, torch.Tensor):
                        self.state[parameter][key] = value.detach().clone()

    def groups(self):
        """One dictionary for each parameter group: kind, parameters, prefix, and the numbers that
        the compiled step starts with. What compile and trace_graph read."""
        count = len(self.param_groups)
        result = []
        for index, group in enumerate(self.param_groups):
            prefix = group.get("argin_region_name") or self.argin_region_name
            if prefix and count > 1 and not group.get("argin_region_name"):
                prefix = f"{prefix}{index}"
            numbers = {key: value for key, value in group.items() if key != "params"}
            result.append({"kind": self.kind, "params": list(group["params"]), "prefix": prefix})
            result[-1].update(self.compiled_numbers(numbers))
        return result

    def compiled_numbers(self, group):
        raise NotImplementedError

    def device_state(self, name):
        """[(symbol of the device, key in self.state)] for a parameter of that name."""
        return [(f"{name}__{symbol}", key) for symbol, key in self.state_keys.items()]

    def __repr__(self):
        numbers = [{k: v for k, v in g.items() if k != "params"} for g in self.param_groups]
        sizes = [len(g["params"]) for g in self.param_groups]
        return f"samba.optim.{type(self).__name__}(parameters={sizes}, groups={numbers})"


class SGD(DeviceOptimizer):
    """Stochastic gradient descent with momentum and weight decay, as torch.optim.SGD.

    lr, momentum, weight_decay: the values of a run that gives none (hyperparam_dict).
    argin_region_name: put before the names of this optimizer's hyperparameters.
    dampening and nesterov: NotImplementedError unless left at their defaults."""

    kind = "sgd"
    state_keys = {"velocity": "momentum_buffer"}

    def __init__(
        self,
        params,
        lr,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        argin_region_name="",
    ):
        if dampening != 0:
            refuse("SGD(dampening=...)", "the device has no dampening", "leave it at 0")
        if nesterov:
            refuse("SGD(nesterov=True)", "the device has plain momentum", "leave it at False")
        check("SGD", "momentum", momentum)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": 0,
            "weight_decay": weight_decay,
            "nesterov": False,
        }
        super().__init__(params, defaults, argin_region_name)

    def check_group(self, group):
        super().check_group(group)
        check("SGD", "momentum", group["momentum"])

    def compiled_numbers(self, group):
        return {key: float(group[key]) for key in ("lr", "momentum", "weight_decay")}


class AdamW(DeviceOptimizer):
    """Adam with decoupled weight decay, as torch.optim.AdamW.

    betas, eps: constants of the PEF. lr, weight_decay: the values of a run that gives none.
    max_grad_norm: clip the norm of all gradients of this optimizer (sections of type GRADNORM).
    fp32_params: of parameters that the device keeps in 16 bits (bfloat16 ones, and all under
    precision mp4) keep an f32 copy, from which the steps are taken; after to_cpu it is 'fp32' of
    the parameter's state. It costs 4 bytes per parameter; parameters of 32 bits need none.
    amsgrad: NotImplementedError unless False."""

    kind = "adamw"
    state_keys = {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq", "fp32": "fp32"}

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.997),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        max_grad_norm=None,
        fp32_params=False,
        argin_region_name="",
    ):
        if amsgrad:
            refuse("AdamW(amsgrad=True)", "the device keeps no maxima", "leave it at False")
        defaults = {
            "lr": lr,
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": False,
            "max_grad_norm": max_grad_norm,
            "fp32_params": fp32_params,
        }
        super().__init__(params, defaults, argin_region_name)

    def check_group(self, group):
        super().check_group(group)
        if len(group["betas"]) != 2:
            raise ValueError(f"AdamW: betas are {group['betas']}, but must be two numbers")
        for beta in group["betas"]:
            check("AdamW", "betas", beta, below=1)
        check("AdamW", "eps", group["eps"])
        if group["max_grad_norm"] is not None:
            check("AdamW", "max_grad_norm", group["max_grad_norm"])

    def compiled_numbers(self, group):
        result = {key: float(group[key]) for key in ("lr", "weight_decay", "eps")}
        result["betas"] = tuple(map(float, group["betas"]))
        norm = group["max_grad_norm"]
        result["max_grad_norm"] = None if norm is None else float(norm)
        result["fp32_params"] = bool(group["fp32_params"])
        return result


def SparseAdamW(*args, **kwargs):
    """Refused: NotImplementedError."""
    refuse("SparseAdamW", "gradients of embeddings are dense on the device", "use AdamW")


def optimizers_of(given):
    """The list that compile and trace_graph work with, for None, one optimizer or several.

    TypeError for any other optimizer, ValueError when a parameter is in two of them."""
    if given is None:
        return []
    optimizers = [given] if isinstance(given, torch.optim.Optimizer) else list(given)
    seen = {}
    for optimizer in optimizers:
        if not isinstance(optimizer, DeviceOptimizer):
            kind = type(optimizer)
            raise TypeError(
                f"{kind.__module__}.{kind.__name__} is no optimizer of the device; there are "
                "samba.optim.SGD and samba.optim.AdamW"
            )
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) in seen:
                    name = getattr(parameter, "sn_name", "") or tuple(parameter.shape)
                    raise ValueError(f"parameter {name} is in two optimizers; it may be in one")
                seen[id(parameter)] = optimizer
    return optimizers


def __getattr__(name):
    raise missing_attribute(__name__, name, NAMES)
