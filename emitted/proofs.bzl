"""quadrille_proofs: a folder with the proof of every program that the generator makes."""

def _proofs(context):
    folder = context.actions.declare_directory(context.label.name)
    context.actions.run(
        outputs = [folder],
        executable = context.executable._generator,
        arguments = ["proofs", "--out", folder.path],
        mnemonic = "Proofs",
    )
    return [DefaultInfo(files = depset([folder]), runfiles = context.runfiles([folder]))]

quadrille_proofs = rule(
    implementation = _proofs,
    attrs = {
        "_generator": attr.label(default = "//generator", executable = True, cfg = "host"),
    },
)
