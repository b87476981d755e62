(* proofs/check CERT: prints what the certificate proves. Exit codes: 0 valid, 1 invalid, 2 unreadable, 3 not decided. *)
let magic = "optratio-certificate 3\n"
let seconds = 600 (* before a check is given up *)

let read name =
  let f = open_in_bin name in
  let s = really_input_string f (in_channel_length f) in
  close_in f;
  s

let text s = String.of_seq (List.to_seq s)
let rec int = function Checker.O -> 0 | Checker.S n -> 1 + int n
let q (x : Checker.q) = Q.to_string (Q.make x.qnum x.qden)

let show name = function
  | None -> ()
  | Some (lo, hi) -> Printf.printf "%s %s %s\n" name (q lo) (q hi)
let level : Checker.level -> string = function
  | Paper -> "paper" | Dp -> "dp" | Monotone -> "monotone" | Full -> "full"

let list l = String.concat " " (List.map q l)
let prior : Checker.prior -> string = function
  | Uniform -> "uniform" | Shifts -> "box" | Worst -> "worst" | Weights w -> "weights " ^ list w
let parameter : Checker.parameter -> string = function
  | ExpMinus x -> "e^-epsilon = " ^ q x
  | Epsilon x -> "epsilon = " ^ q x
  | Root (i, x) -> "e^-epsilon = " ^ q x ^ "^(1/" ^ Z.to_string i ^ ")"

let place distance : Checker.place -> string = function
  | AtScores (kind, sensitivity, scores, neighbor) ->
    Printf.sprintf "scores %s and %s, neighbors: %s, sensitivity %s" (list scores) (list neighbor) (text kind) (q sensitivity)
  | AtInputs (a, b) ->
    Printf.sprintf "inputs %s and %s, neighbors: stated, at distance %s" (text a) (text b) distance

let give_up why = print_endline ("not decided: " ^ why); exit 3

let check file =
  match Checker.check (List.init (String.length file) (String.get file)) with
  | Bad s -> print_endline ("invalid: " ^ text s); exit 1
  | Open s -> give_up (text s ^ " is not among what this checker knows")
  | Ok (Privacy t) ->
    Printf.printf "valid: %s, delta = %s are kept at %d inputs, in %d directions of pairs\n"
      (parameter t.keeps) (q t.spare) (List.length t.stated) (List.length t.pairs)
  | Ok (Least p) ->
    Printf.printf "valid: table of %d inputs and %d outputs, %s, delta = %s, %d directions of pairs, %s\n" (List.length p.charges)
      (int p.own.outputs) (parameter p.own.keeps) (q p.own.spare) (List.length p.own.pairs)
      (match p.weighing with None -> "the largest loss" | Some w -> "prior " ^ list w);
    show "optimum" (Some p.least_loss)
  | Ok (OnGrid g) ->
    Printf.printf "valid: sensitivities %s, scores from %s in %d steps of %s, %s, loss %s, prior %s, %s\n"
      (list g.sensitivities) (q g.lowest) (int g.rungs) (q g.pace)
      (if g.by_differences then "shift-invariant mechanisms" else "all mechanisms") (if g.squared then "mse" else "error")
      (if g.at_worst then "worst" else "uniform") (parameter g.budget);
    show "optimum" (Some g.grid_optimum)
  | Ok (Choices c) ->
    Printf.printf "valid: n = %d, %d steps of 2/%d, %d chosen, %s, delta = %s, loss %s, prior %s\n" (int c.of_candidates)
      (int c.lowest_depth) (int c.finer) (int c.chosen_count) (parameter c.choice_privacy) (q c.choice_delta)
      (list c.depth_losses) (prior c.choice_prior);
    show "optimum" (Some c.choice_optimum)
  | Ok (Violation w) ->
    Printf.printf "valid: %s, delta = %s are violated at %s\n" (parameter w.lost) (q w.slack) (place (q w.away) w.found_at);
    List.iter (fun (s : Checker.stake) ->
      Printf.printf "outcome %d\n" (int s.outcome_of);
      show "probability" (Some s.likely); show "at the neighbor" (Some s.unlikely)) w.stakes
  | Ok (Divergent d) ->
    let order = match d.above_1 with
      | None -> "infinity" | Some a -> Q.to_string (Q.add Q.one (Q.make a.qnum a.qden)) in
    Printf.printf "valid: Renyi divergence of order %s above %s at %s\n" order (q d.exceeded) (place "1" d.seen_at)
  | Ok (Bounds c) ->
    Printf.printf "valid: n = %d, %d steps of 2/%d, %s, constraints %s, loss %s, prior %s\n"
      (int c.candidates) (int c.deepest) (int c.steps) (parameter c.privacy) (level c.rows) (list c.losses) (prior c.weighted);
    show "optimum" (Some c.optimum);
    show "error pf" c.on_pf; show "error em" c.on_em; show "ratio pf" c.pf_ratio; show "ratio em" c.em_ratio

(* The check runs in a process of its own: whatever ends that one, a lack of memory or of time, decides nothing. *)
let () =
  let unreadable why = prerr_endline ("unreadable: " ^ why); exit 2 in
  if Array.length Sys.argv <> 2 then unreadable "give one certificate";
  match read Sys.argv.(1) with
  | exception (Sys_error why | Invalid_argument why | Failure why) -> unreadable why
  | exception End_of_file -> unreadable "the file is cut off"
  | file when not (String.starts_with ~prefix:magic file) ->
    unreadable ("the first line is not " ^ String.trim magic)
  | file ->
    match Unix.fork () with
    | 0 ->
      ignore (Unix.alarm seconds);
      (try check file with Stack_overflow | Out_of_memory | Z.Overflow | Invalid_argument _ | Failure _ ->
        give_up "the numbers or the lattice are too large")
    | child ->
      let stop = Sys.Signal_handle (fun _ -> Unix.kill child Sys.sigkill) in
      List.iter (fun signal -> Sys.set_signal signal stop) [Sys.sigint; Sys.sigterm];
      let rec wait () = match Unix.waitpid [] child with
        | _, Unix.WEXITED code -> exit code
        | _ -> give_up "the time or the memory does not suffice"
        | exception Unix.Unix_error (Unix.EINTR, _, _) -> wait () in
      wait ()
