(* proofs/check CERT: prints what the certificate proves. Exit codes: 0 valid, 1 invalid, 2 unreadable, 3 not decided. *)
let read name =
  let f = open_in_bin name in
  let s = really_input_string f (in_channel_length f) in
  close_in f;
  List.init (String.length s) (String.get s)

let text s = String.of_seq (List.to_seq s)
let rec int = function Checker.O -> 0 | Checker.S n -> 1 + int n
let q (x : Checker.q) = Q.to_string (Q.make x.qnum x.qden)

let show name = function
  | None -> ()
  | Some (lo, hi) -> Printf.printf "%s %s %s\n" name (q lo) (q hi)
let level : Checker.level -> string = function
  | Paper -> "paper" | Dp -> "dp" | Monotone -> "monotone" | Full -> "full"

let parameter : Checker.parameter -> string = function
  | ExpMinus x -> "e^-epsilon = " ^ q x
  | Epsilon x -> "epsilon = " ^ q x

let () =
  match Checker.check_file (read Sys.argv.(1)) with
  | exception Sys_error e -> prerr_endline e; exit 2
  | Bad s -> print_endline ("invalid: " ^ text s); exit 1
  | Open s -> print_endline ("not decided: " ^ text s ^ " is not among what this checker knows"); exit 3
  | Ok (InProgram c) ->
    let objective = match c.aim with Vectors -> "paper" | Box -> "box" in
    Printf.printf "valid: n = %d, k = %d, %s, objective %s, constraints %s\n"
      (int c.candidates) (int c.deepest) (parameter c.privacy) objective (level c.rows);
    show "optimum" (Some c.optimum);
    show "error pf" c.on_pf; show "error em" c.on_em; show "ratio pf" c.pf_ratio; show "ratio em" c.em_ratio
  | Ok (InLattice c) ->
    let list l = String.concat " " (List.map q l) in
    let prior = match c.weighted with
      | Uniform -> "uniform" | Shifts -> "box" | Worst -> "worst" | Weights w -> "weights " ^ list w in
    Printf.printf "valid: n = %d, %d steps of 2/%d, %s, constraints %s, loss %s, prior %s\n"
      (int c.choices) (int c.bottom_depth) (int c.steps) (parameter c.asked) (level c.kept) (list c.losses) prior;
    show "optimum" (Some c.least_loss)
