"""quadrille_certificates: a file with the line that certify prints for each proof of a folder.

The proofs are proven in parts, one action each. A part holds the proofs whose names have one checksum, so a new proof changes
one part.
"""

_PARTS = 24

def _part(context, folder, number):
    proofs = context.actions.declare_directory("%s_%d" % (context.label.name, number))
    context.actions.run_shell(
        inputs = [folder],
        outputs = [proofs],
        arguments = [folder.path, str(_PARTS), str(number), proofs.path],
        command = """
            for proof in "$1"/*.proof; do
              sum=$(basename "$proof" | cksum | cut -d' ' -f1)
              if [ $((sum % $2)) = "$3" ]; then cp "$proof" "$4"; fi
            done""",
        mnemonic = "ProofPart",
    )
    lines = context.actions.declare_file("%s_%d.txt" % (context.label.name, number))
    context.actions.run_shell(
        inputs = [proofs],
        outputs = [lines],
        tools = [context.executable._certify],
        arguments = [context.executable._certify.path, proofs.path, lines.path],
        command = """
            shopt -s nullglob
            proofs=("$2"/*.proof)
            if [ ${#proofs[@]} = 0 ]; then : >"$3"; else "$1" "${proofs[@]}" >"$3"; fi""",
        mnemonic = "Prove",
        progress_message = "Proving part %d of %d" % (number + 1, _PARTS),
    )
    return lines

def _certificates(context):
    parts = [_part(context, context.file.proofs, number) for number in range(_PARTS)]
    all = context.actions.declare_file(context.label.name + ".txt")
    context.actions.run_shell(
        inputs = parts,
        outputs = [all],
        arguments = [all.path] + [part.path for part in parts],
        command = """out=$1; shift; cat "$@" >"$out" """,
        mnemonic = "Certificates",
    )
    return [DefaultInfo(files = depset([all]))]

quadrille_certificates = rule(
    implementation = _certificates,
    attrs = {
        "proofs": attr.label(allow_single_file = True, mandatory = True),
        "_certify": attr.label(default = "//verifier:certify", executable = True, cfg = "host"),
    },
)
