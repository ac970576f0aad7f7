; SPDX-License-Identifier: MIT
; What encode and decode mean, in exact arithmetic: of every format, source, rounding and overflow.
; Numbers are integers, in units of 2^-UNIT. Given are
;   s, e, m, bias    bits of sign, exponent and mantissa, and what the exponent is less
;   specials, nan    which codes are not numbers, by MPNUM_SPECIALS_, and the NaN that conversions give
;   policy           of NaNs, by MPNUM_NAN_
;   x                a float, as bits, of P bits of mantissa and Q of exponent
;   rounding, overflow, random, stored     the arguments
;   code             the largest code whose value is not above that of x
(define-sort Word () (_ BitVec 32))
(define-fun two_to ((n Word)) Word (bvshl #x00000001 n))
(define-fun low_bits ((n Word)) Word (bvsub (two_to n) #x00000001))
(define-fun flag ((condition Bool)) Word (ite condition #x00000001 #x00000000))

; --- formats
(define-fun is_ieee () Bool (= specials #x00000000))
(define-fun is_fnuz () Bool (= specials #x00000002))
(define-fun is_finite () Bool (= specials #x00000003))
(define-fun is_p3109 () Bool (= specials #x00000004))
(define-fun is_e8m0 () Bool (= specials #x00000005))
(define-fun minus_zero_is_nan () Bool (or is_fnuz is_p3109))
(define-fun ones () Word (low_bits (bvadd e m)))
(define-fun infinity () Word (ite is_ieee (bvsub ones (low_bits m)) ones)) ; of IEEE and P3109
(define-fun largest () Word (bvsub (ite is_ieee infinity ones) (flag (not (or is_fnuz is_finite)))))
(define-fun usual_nan () Word
  (ite minus_zero_is_nan (two_to (bvadd e m)) (ite is_finite #x00000000 ones)))
(define-fun is_nan_fit () Bool
  (or (= nan usual_nan) (and is_ieee (bvult infinity nan) (bvule nan ones))))
(define-fun is_format () Bool
  (let ((bits (bvadd s (bvadd e m))))
    (and (bvule s #x00000001) (bvule #x00000001 e) (bvule e #x00000008) (bvule m #x0000000f)
         (bvule #x00000002 bits) (bvule bits #x00000010) (bvule specials #x00000004)
         (=> minus_zero_is_nan (= s #x00000001))
         (=> is_ieee (and (bvuge e #x00000002) (bvuge m #x00000001)))
         (bvuge largest (two_to m))                                     ; there is a normal number
         (bvsle bias #x0000007f) (bvsge bias #xffffff00)                ; the least is a normal float
         (bvsle (bvsub (bvlshr largest m) bias) #x0000007f))))          ; the largest is a float
(define-fun is_tf32_or_f32 () Bool
  (and (= s #x00000001) (= e #x00000008) (or (= m #x0000000a) (= m #x00000017)) (= bias #x0000007f) is_ieee))
(define-fun is_scale () Bool (and (= s #x00000000) (= e #x00000008) (= m #x00000000) (= bias #x0000007f) is_e8m0))
(define-fun storage_shift () Word (ite (= (bvadd e m) #x00000012) #x0000000d #x00000000)) ; of tf32

; The value of a code without sign, its exponent as large as it takes, and the gap to the next.
(define-fun field ((c Word)) Word (bvlshr c m))
(define-fun is_subnormal ((c Word)) Bool (and (= (field c) #x00000000) (not is_e8m0)))
(define-fun place ((c Word)) Wide ; 2^place is the worth of its last bit
  (wide (bvsub (bvadd UNIT (ite (is_subnormal c) #x00000001 (field c))) (bvadd bias m))))
(define-fun gap ((c Word)) Wide (bvshl (wide #x00000001) (place c)))
(define-fun significand ((c Word)) Word (bvor (bvand c (low_bits m)) (ite (is_subnormal c) #x00000000 (two_to m))))
(define-fun value ((c Word)) Wide (bvshl (wide (significand c)) (place c)))

; --- the float x
(define-fun fraction () Long (bvand x (bvsub (bvshl (_ bv1 64) P) (_ bv1 64))))
(define-fun exponent () Long (bvand (bvlshr x P) (bvsub (bvshl (_ bv1 64) Q) (_ bv1 64))))
(define-fun is_special () Bool (= exponent (bvsub (bvshl (_ bv1 64) Q) (_ bv1 64))))
(define-fun x_is_negative () Bool (= (bvlshr x (bvadd P Q)) (_ bv1 64)))
(define-fun x_is_infinite () Bool (and is_special (= fraction (_ bv0 64))))
(define-fun x_is_nan () Bool (and is_special (distinct fraction (_ bv0 64))))
(define-fun payload () Word ((_ extract 31 0) (bvlshr fraction (bvsub P (_ bv23 64)))))
(define-fun magnitude () Wide
  (ite (= exponent (_ bv0 64)) (wide64 fraction)
       (bvshl (wide64 (bvor fraction (bvshl (_ bv1 64) P))) (wide64 (bvsub exponent (_ bv1 64))))))

; --- rounding
(define-fun negative () Bool (and x_is_negative (= s #x00000001)))
(define-fun exact () Wide ; e8m0 has nothing below 2^-127
  (ite (bvult magnitude (value #x00000000)) (value #x00000000) magnitude))
(define-fun rest () Wide (bvsub exact (value code)))
(define-fun is_next_below () Bool
  (and (bvult code #x10000000) (bvsle (bvsub (field code) bias) TOP) ; so that value does not wrap
       (bvule (value code) exact) (bvult rest (gap code))))
(define-fun is_inexact () Bool (distinct rest (wide #x00000000)))
(define-fun is_odd () Bool (= (bvand code #x00000001) #x00000001))
(define-fun twice () Wide (bvshl rest (wide #x00000001)))
(define-fun goes_away () Bool
  (ite (= rounding #x00000000) (or (bvugt twice (gap code)) (and (= twice (gap code)) is_odd)) ; nearest even
  (ite (= rounding #x00000001) false                                              ; toward zero
  (ite (= rounding #x00000002) (and is_inexact (not negative))                    ; up
  (ite (= rounding #x00000003) (and is_inexact negative)                          ; down
  (ite (= rounding #x00000004) (bvuge twice (gap code))                                ; nearest away
  (ite (= rounding #x00000005) (and is_inexact (not is_odd))                      ; to odd
       (bvuge (bvadd (bvshl rest (wide #x00000020)) (bvshl (wide random) (place code))) ; rest / gap * 2^32 + random
              (bvshl (gap code) (wide #x00000020))))))))))                               ; reaches 2^32
(define-fun rounded () Word (bvadd code (flag goes_away)))

; --- what is too large, Inf, NaN, sign
(define-fun overflowed () Word
  (ite (or (= overflow #x00000001) is_finite) largest (ite (or is_ieee is_p3109) infinity nan)))
(define-fun stays_finite () Bool
  (or (= rounding #x00000001) (= rounding #x00000005) (= rounding (ite negative #x00000002 #x00000003))))
(define-fun encoded_magnitude () Word
  (ite x_is_infinite overflowed (ite (bvule rounded largest) rounded (ite stays_finite largest overflowed))))
(define-fun has_minus_zero () Bool (and (= s #x00000001) (not minus_zero_is_nan)))
(define-fun sign_place () Word (two_to (bvadd e m)))
(define-fun sign () Word (ite negative sign_place #x00000000))
(define-fun keeps_payload () Bool (and (= policy #x00000002) is_ieee))
(define-fun encoded_nan () Word
  (ite (and is_finite (= policy #x00000003)) (ite has_minus_zero (bvxor sign sign_place) #x00000000)
  (ite keeps_payload (bvor (bvor sign infinity) (bvor (two_to (bvsub m #x00000001)) (bvlshr payload (bvsub #x00000017 m))))
       (bvor (ite is_finite largest nan) (ite (= policy #x00000000) #x00000000 sign)))))
(define-fun encoded () Word
  (bvshl (ite x_is_nan encoded_nan
           (bvor encoded_magnitude (ite (or has_minus_zero (distinct encoded_magnitude #x00000000)) sign #x00000000)))
         storage_shift))

; --- decoding: whether the float x is what the stored code is
(define-fun unshifted () Word (bvand (bvlshr stored storage_shift) (low_bits (bvadd s (bvadd e m)))))
(define-fun stored_magnitude () Word (bvand unshifted ones))
(define-fun stored_sign () Word (bvand unshifted (bvnot ones)))
(define-fun loses_nan () Bool ; a tf32 word whose payload is in the bits below the code
  (and (= stored_magnitude infinity) (distinct (bvand stored (low_bits storage_shift)) #x00000000)))
(define-fun is_stored_infinity () Bool (and (or is_ieee is_p3109) (= stored_magnitude infinity)))
(define-fun is_stored_nan () Bool
  (ite is_ieee (or (bvugt stored_magnitude infinity) loses_nan)
  (ite minus_zero_is_nan (= unshifted sign_place) (and (not is_finite) (= stored_magnitude ones)))))
(define-fun is_prefix () Bool (and (= e #x00000008) (= bias #x0000007f) is_ieee)) ; bf16, tf32, f32
(define-fun decoded_nan () Word
  (let ((float_sign (ite (and (= s #x00000001) (distinct stored_sign #x00000000)) #x80000000 #x00000000))
        (kept (bvshl (bvand unshifted (low_bits m)) (bvsub #x00000017 m))))
    (ite is_prefix (ite loses_nan (bvor float_sign (bvshl nan (bvsub #x00000017 m))) (bvor float_sign (bvor #x7f800000 kept)))
    (ite (= policy #x00000000) #x7fffffff (bvor float_sign (bvor #x7fc00000 (ite keeps_payload kept #x00000000)))))))
(define-fun is_decoded () Bool
  (ite is_stored_nan (= x ((_ zero_extend 32) decoded_nan))
  (and (= x_is_negative (distinct stored_sign #x00000000))
       (ite is_stored_infinity x_is_infinite (and (not is_special) (= magnitude (value stored_magnitude)))))))
