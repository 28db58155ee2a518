"""common_app_driver: what the command line asks for, for a model that needs nothing special."""
from samba.names import missing_attribute


def common_app_driver(args, model, inputs, optim=None, name="", **ignored):
    """compile: writes the PEF. test: compares the outputs with PyTorch's. run: one run.
    measure-performance, measure-sections: the figures of many runs.

    args: from parse_app_args. Further keywords (squeeze_bs_dim, init_output_grads, app_dir and so
    on) are accepted; app_dir and the like have no meaning here."""
    import samba
    from samba import utils
    from samba.utils.pef_utils import get_pefmeta

    inputs = inputs(args) if callable(inputs) else inputs
    optim = None if getattr(args, "inference", False) else optim
    if args.command == "compile":
        metadata = get_pefmeta(args, model)
        path = samba.session.compile(
            model, inputs, optim, name=name, config_dict=vars(args), pef_metadata=metadata
        )
        print(f"PEF: {path}")
        return path
    outputs = utils.trace_graph(model, inputs, optim, pef=args.pef, mapping=args.mapping)
    if args.command == "test":
        return compare(model, inputs, outputs)
    if args.command == "run":
        return samba.session.run(inputs, outputs)
    sections = args.command == "measure-sections"
    measure = utils.measure_sections if sections else utils.measure_performance
    return measure(
        model,
        inputs,
        batch_size=args.batch_size,
        n_chips=args.n_chips,
        inference=args.inference,
        n_iterations=args.num_iterations,
        json=args.json,
        data_parallel=args.data_parallel,
    )


def compare(model, inputs, outputs):
    """The forward outputs of the device against PyTorch's."""
    import samba
    from samba import utils

    samba.session.tracing = False
    given = inputs if isinstance(inputs, dict) else [t for t in inputs]
    expected = model(**given) if isinstance(given, dict) else model(*given)
    expected = samba.session.flatten_outputs(expected)
    got = samba.session.run(inputs, outputs, section_types=["FWD"], train=False)
    for index, (device, host) in enumerate(zip(got, expected)):
        utils.assert_close(device, host, f"output {index}", threshold=5e-3)
    print("Test passed")
    return got


def __getattr__(name):
    raise missing_attribute(__name__, name, ("common_app_driver",))
