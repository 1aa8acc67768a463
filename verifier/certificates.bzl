"""quadrille_certificates: makes a file with the line that certify prints for each proof of a folder.

The proofs are proven in parts, one action each. The checksum of a proof's name decides its part, so a new proof
changes one part. The prover that wrote the list `known` does not prove the proofs of that list again.
"""

_PARTS = 24

# Puts each proof into the folder of its part. Bazel proves only the parts that change.
def _parts(context):
    parts = [context.actions.declare_directory("%s_%d" % (context.label.name, number)) for number in range(_PARTS)]
    context.actions.run_shell(
        inputs = [context.file.proofs],
        outputs = parts,
        arguments = [context.file.proofs.path] + [part.path for part in parts],
        command = """
            folder=$1; shift; parts=("$@")
            for proof in "$folder"/*.proof; do
              read -r sum _ < <(cksum <<<"${proof##*/}")
              cp "$proof" "${parts[sum % ${#parts[@]}]}"
            done""",
        mnemonic = "ProofParts",
    )
    return parts

def _lines(context, proofs, number):
    lines = context.actions.declare_file("%s_%d.txt" % (context.label.name, number))
    known = ["--known", context.file.known.path] if context.file.known else []
    context.actions.run_shell(
        inputs = [proofs] + context.files.known,
        outputs = [lines],
        tools = [context.executable._certify],
        arguments = [proofs.path, lines.path, context.executable._certify.path] + known,
        command = """
            shopt -s nullglob
            proofs=("$1"/*.proof)
            if [ ${#proofs[@]} = 0 ]; then : >"$2"; else "${@:3}" "${proofs[@]}" >"$2"; fi""",
        mnemonic = "Prove",
        progress_message = "Proving part %d of %d" % (number + 1, _PARTS),
    )
    return lines

def _certificates(context):
    parts = [_lines(context, proofs, number) for number, proofs in enumerate(_parts(context))]
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
        "known": attr.label(allow_single_file = True),
        "proofs": attr.label(allow_single_file = True, mandatory = True),
        "_certify": attr.label(default = "//verifier:certify", executable = True, cfg = "host"),
    },
)
